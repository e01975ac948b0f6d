import os
import tempfile
import torch
from torch import nn

torch.manual_seed(20)


class Scorer(nn.Module):
    def __init__(self, n_features=10):
        super().__init__()
        self.norm = nn.LayerNorm(n_features)
        self.fc1 = nn.Linear(n_features, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(self.norm(x)))).squeeze(-1)


def sentences(n):
    x = torch.randn(n, 10)
    return x, torch.tanh(x[:, 0] - 2 * x[:, 3] + x[:, 1] * x[:, 2])


def train(model, optimizer, steps):
    for step in range(steps):
        x, salience = sentences(64)
        loss = nn.functional.mse_loss(model(x), salience)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


workdir = tempfile.mkdtemp()
path = os.path.join(workdir, "scorer.pt")

wrapped = nn.DataParallel(Scorer())
opt = torch.optim.Adam(wrapped.parameters(), lr=3e-3)
print("first run loss", train(wrapped, opt, 150))
torch.save({"model": wrapped.module.state_dict(), "opt": opt.state_dict()}, path)

# later, in the service process
checkpoint = torch.load(path, map_location="cpu")
model = Scorer()
model.load_state_dict(checkpoint["model"])
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
optimizer.load_state_dict(checkpoint["opt"])
print("resumed loss", train(model, optimizer, 100))
x, salience = sentences(500)
with torch.no_grad():
    print("eval mse", nn.functional.mse_loss(model(x), salience).item())
