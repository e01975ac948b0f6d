import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.lora_a.T @ self.lora_b.T) * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 64)
        self.fc2 = nn.Linear(64, 64)
        self.out = nn.Linear(64, 5)

    def forward(self, x):
        return self.out(F.relu(self.fc2(F.relu(self.fc1(x)))))


def task(seed, n=1000):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(20, 5, generator=g)
    x = torch.randn(n, 20, generator=g)
    return x, (x @ w).argmax(1)


def train(model, data, lr, steps):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=lr)
    x, y = data
    for step in range(steps):
        idx = torch.randint(0, 800, (64,))
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 0:
            print(f"  step {step} loss {loss.item():.4f}")
    with torch.no_grad():
        return (model(x[800:]).argmax(1) == y[800:]).float().mean().item()


net = Net()
print("pretrain acc", train(net, task(1), 3e-3, 150))
for p in net.parameters():
    p.requires_grad_(False)
net.fc1 = LoRALinear(net.fc1)
net.fc2 = LoRALinear(net.fc2)
n_train = sum(p.numel() for p in net.parameters() if p.requires_grad)
print("trainable", n_train)
print("adapted acc", train(net, task(2), 1e-2, 200))
