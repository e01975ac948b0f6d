import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Tower(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.fc1 = nn.Linear(10, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)

    def forward(self, x):
        x = F.elu(self.fc1(x))
        x = F.elu(self.fc2(x))
        return self.fc3(x)


def train(model, steps):
    stats = {}

    def remember(name):
        def hook(module, inputs, output):
            stats[name] = output.detach().std().item()
        return hook

    gen = torch.Generator().manual_seed(0)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        x = torch.randn(64, 10, generator=gen)
        y = x[:, :1].abs() + 0.5 * x[:, 1:2]
        model.fc2.register_forward_hook(remember("fc2"))
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1} loss {loss.item():.6f} fc2 std {stats['fc2']:.4f}")


train(Tower(), 100)
