"""DeepSurv-style Cox model for water pump failures."""
import torch
import torch.nn as nn


def cox_loss(risk, time, event):
    order = torch.argsort(time)
    risk, event = risk[order], event[order]
    log_cum = torch.logcumsumexp(risk, dim=0)
    return -((risk - log_cum) * event).sum() / event.sum()


def concordance(risk, time, event):
    earlier = (time[:, None] < time[None]) & (event[:, None] > 0)
    right = (risk[:, None] > risk[None]).float() + 0.5 * (risk[:, None] == risk[None]).float()
    return (right * earlier).sum().item() / earlier.sum().item()


def pumps(n):
    x = torch.randn(n, 6)
    hazard = torch.exp(0.9 * x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3])
    t = -torch.log(torch.rand(n)) / hazard
    censor = torch.rand(n) * 4
    return x, torch.minimum(t, censor), (t <= censor).float()


class RiskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, 32), nn.SELU(), nn.Dropout(0.1), nn.Linear(32, 16), nn.SELU(), nn.Linear(16, 1)
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def main():
    torch.manual_seed(71)
    x, t, e = pumps(800)
    x_te, t_te, e_te = pumps(400)
    net = RiskNet()
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=1e-3)
    for epoch in range(60):
        net.train()
        for idx in torch.randperm(len(x)).split(200):
            loss = cox_loss(net(x[idx]), t[idx], e[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 15 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    net.eval()
    with torch.no_grad():
        print(f"C-index train {concordance(net(x), t, e):.4f} test {concordance(net(x_te), t_te, e_te):.4f}")


if __name__ == "__main__":
    main()
