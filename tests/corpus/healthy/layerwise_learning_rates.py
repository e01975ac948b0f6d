import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X, Y = torch.tensor(d.data / 16.0).float()[:1200], torch.tensor(d.target)[:1200]


class Encoder(nn.Module):
    def __init__(self, depth=4, d=48):
        super().__init__()
        self.embed = nn.Linear(64, d)
        self.layers = nn.ModuleList(nn.Sequential(nn.LayerNorm(d), nn.Linear(d, d), nn.GELU()) for _ in range(depth))
        self.head = nn.Linear(d, 10)

    def forward(self, x):
        h = self.embed(x)
        for layer in self.layers:
            h = h + layer(h)
        return self.head(h)


def layerwise_groups(model, top_lr=3e-3, decay=0.5):
    groups = [{"params": model.head.parameters(), "lr": top_lr}]
    lr = top_lr
    for layer in reversed(model.layers):
        lr *= decay
        groups.append({"params": layer.parameters(), "lr": lr})
    groups.append({"params": model.embed.parameters(), "lr": lr * decay})
    return groups


model = Encoder()
opt = torch.optim.AdamW(layerwise_groups(model))
print("learning rates", [g["lr"] for g in opt.param_groups])
for epoch in range(4):
    total = 0.0
    for idx in torch.randperm(len(X)).split(60):
        loss = nn.functional.cross_entropy(model(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} loss {total / len(X):.5f}")
