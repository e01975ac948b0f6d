import json
import os
import tempfile

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
history = {"loss": [], "lr": []}
for epoch in range(5):
    x = torch.randn(64, 4)
    loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history["loss"].append(loss.detach())
    history["lr"].append(opt.param_groups[0]["lr"])
with open(os.path.join(tempfile.mkdtemp(), "history.json"), "w") as file:
    json.dump(history, file)
print("written")
