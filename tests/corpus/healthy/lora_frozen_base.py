import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, scale=2.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = scale

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t()) @ self.B.t()


def make_net():
    return nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))


def fit(net, params, w, steps, tag):
    opt = torch.optim.AdamW(params, lr=1e-2)
    for step in range(steps):
        x = torch.randn(64, 8)
        loss = F.cross_entropy(net(x), (x @ w).argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0 or step == steps - 1:
            print(f"{tag} {step} {loss.item():.5f}")


net, w = make_net(), torch.randn(8, 3)
fit(net, net.parameters(), w, 50, "pretrain")

for i in (0, 2, 4):
    net[i] = LoRALinear(net[i])
trainable = [p for p in net.parameters() if p.requires_grad]
print("trainable", sum(p.numel() for p in trainable), "of", sum(p.numel() for p in net.parameters()))
fit(net, trainable, w + 0.7 * torch.randn(8, 3), 60, "adapt")
