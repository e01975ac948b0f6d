import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SineNet(nn.Module):
    def __init__(self, width: int = 32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(),
            nn.Linear(width, width), nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.body(x)


x = torch.linspace(-3, 3, 256, device=device).unsqueeze(1)
y = torch.sin(x) + 0.3 * torch.cos(3 * x)

net = SineNet().to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=1.0)

for step in range(120):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step:4d}: {loss.item():.6f}")
