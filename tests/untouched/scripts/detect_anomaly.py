"""The user's own detect_anomaly and a NaN that it finds; loss scaling by hand afterwards."""
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    optimizer.zero_grad()
    with torch.autograd.detect_anomaly(check_nan=True):
        out = model(torch.randn(2, 3))
        loss = (out * 0).sqrt().sum() if step == 2 else out.square().mean()
        try:
            loss.backward()
            optimizer.step()
        except RuntimeError as error:
            print("anomaly", str(error).splitlines()[0])
    print(step, loss.item(), torch.is_anomaly_enabled())
print(model.weight.tolist())
