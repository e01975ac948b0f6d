import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class MultiTask(nn.Module):
    """Digit class and total ink, balanced with learned uncertainties."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.cls = nn.Linear(32, 10)
        self.reg = nn.Linear(32, 1)
        self.log_var = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.trunk(x)
        return self.cls(h), self.reg(h).squeeze(1)

    def loss(self, x, label, ink):
        logits, pred = self(x)
        ce = F.cross_entropy(logits, label)
        mse = F.mse_loss(pred, ink)
        total = torch.exp(-self.log_var[0]) * ce + 0.5 * torch.exp(-self.log_var[1]) * mse
        return total + 0.5 * self.log_var.sum(), ce, mse


def main():
    torch.manual_seed(17)
    d = load_digits()
    X = torch.tensor(d.data / 16.0, dtype=torch.float32)
    y = torch.tensor(d.target)
    ink = X.sum(1)
    perm = torch.randperm(len(y))
    tr, te = perm[:1400], perm[1400:]
    ink = (ink - ink[tr].mean()) / ink[tr].std()
    net = MultiTask()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(12):
        for idx in tr[torch.randperm(len(tr))].split(64):
            total, ce, mse = net.loss(X[idx], y[idx], ink[idx])
            opt.zero_grad()
            total.backward()
            opt.step()
        if epoch % 3 == 2:
            with torch.no_grad():
                logits, pred = net(X[te])
                acc = (logits.argmax(1) == y[te]).float().mean().item()
                err = F.mse_loss(pred, ink[te]).item()
            print(f"epoch {epoch + 1} objective {total.item():.3f} acc {acc:.3f} ink mse {err:.4f} "
                  f"log variances {net.log_var.detach().numpy().round(2)}")


main()
