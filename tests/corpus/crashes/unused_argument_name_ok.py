import torch
import torch.nn as nn

CONFIG = {
    "model": {"hidden": 16},
    "optimizer": {"lr": 1e-2, "weight_decay": 1e-4},
    "epochs": 3,
}


def build(config):
    model = nn.Sequential(nn.Linear(4, config["model"]["hidden"]), nn.ReLU(), nn.Linear(config["model"]["hidden"], 1))
    return model, torch.optim.Adam(model.parameters(), **config["optimizer"])


torch.manual_seed(0)
model, opt = build(CONFIG)
x = torch.randn(64, 4)
for epoch in range(CONFIG["epochs"]):
    loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
