import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(14)

TASKS = {"digit": 10, "parity": 2, "large": 2}
bunch = load_digits()
images = torch.tensor(bunch.data / 16, dtype=torch.float32, device=device)
digit = torch.tensor(bunch.target, device=device)
labels = {"digit": digit, "parity": digit % 2, "large": (digit >= 5).long()}
split = 1300


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 48), nn.ReLU())
        self.heads = {name: nn.Linear(48, k).to(device) for name, k in tasks.items()}

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


net = MultiTask(TASKS).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(5):
    net.train()
    for rows in torch.randperm(split).split(65):
        out = net(images[rows])
        loss = sum(F.cross_entropy(out[t], labels[t][rows]) for t in TASKS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        out = net(images[split:])
        acc = {t: (out[t].argmax(1) == labels[t][split:]).float().mean().item() for t in TASKS}
    print(f"epoch {epoch} loss {loss.item():.5f} " + " ".join(f"{t}={a:.3f}" for t, a in acc.items()))
