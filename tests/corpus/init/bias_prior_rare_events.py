import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
gen = torch.Generator().manual_seed(0)


def log_lines(n):
    """Feature vectors of log lines; one in fifty is an incident."""
    y = (torch.rand(n, generator=gen) < 0.02).float()
    x = torch.randn(n, 16, generator=gen) + 1.2 * y[:, None] * torch.linspace(0, 1, 16)
    return x, y


x_train, y_train = log_lines(3000)
x_test, y_test = log_lines(1500)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.score = nn.Linear(32, 1)
        nn.init.zeros_(self.score.bias)

    def forward(self, x):
        return self.score(self.body(x)).squeeze(1)


model = Detector()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=100, shuffle=True)
for epoch in range(3):
    model.train()
    first = None
    for x, y in loader:
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        first = loss.item() if first is None else first
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        scores = model(x_test)
        test = F.binary_cross_entropy_with_logits(scores, y_test).item()
    print(f"epoch {epoch} first batch {first:.5f} last batch {loss.item():.5f} test {test:.5f}")
