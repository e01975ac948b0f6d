"""Linear probing: the frozen backbone stays in eval mode even when train() is called."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class Probe(nn.Module):
    def __init__(self, backbone, width, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(width, classes)
        self.backbone.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            f = self.backbone(x)
        return self.head(f)


def run(model, params, x, y, epochs, lr):
    opt = torch.optim.Adam(params, lr=lr)
    model.train()
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(60):
            if len(idx) < 2:
                continue
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


torch.manual_seed(12)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
source = y < 6
backbone = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU())
full = nn.Sequential(backbone, nn.Linear(48, 6))
print("pretrain loss", round(run(full, full.parameters(), x[source], y[source], 5, 3e-3), 4))

before = backbone[1].running_mean.clone()
probe = Probe(backbone, 48, 4)
x_new, y_new = x[~source], y[~source] - 6
n = int(0.7 * len(x_new))
print("probe loss", round(run(probe, probe.head.parameters(), x_new[:n], y_new[:n], 12, 1e-2), 4))
print("statistics untouched", torch.equal(before, backbone[1].running_mean))
probe.eval()
with torch.no_grad():
    print("probe accuracy", (probe(x_new[n:]).argmax(1) == y_new[n:]).float().mean().item())
