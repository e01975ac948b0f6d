"""Multi-step heart-rate forecasting with an encoder-decoder."""
import torch
import torch.nn as nn

PAST, FUTURE = 24, 12


def patients(n):
    x = torch.zeros(n, PAST + FUTURE)
    x[:, 0] = torch.randn(n)
    drift = 0.15 * torch.randn(n)
    for t in range(1, PAST + FUTURE):
        x[:, t] = 0.95 * x[:, t - 1] + drift + 0.35 * torch.randn(n)
    return x[:, :PAST, None], x[:, PAST:, None]


class Seq2Seq(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.enc = nn.GRU(1, hidden, batch_first=True)
        self.dec = nn.GRUCell(1, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, past, future=None, teacher_forcing=True):
        _, h = self.enc(past)
        h, x = h[0], past[:, -1]
        outs = []
        for t in range(FUTURE):
            h = self.dec(x, h)
            y = x + self.out(h)
            outs.append(y)
            x = future[:, t] if teacher_forcing and future is not None else y
        return torch.stack(outs, 1)


class Experiment:
    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.model = Seq2Seq()
        self.opt = torch.optim.Adam(self.model.parameters(), lr=4e-3)
        self.train_data, self.test_data = patients(512), patients(300)

    def train(self, epochs):
        past, future = self.train_data
        self.model.train()
        for epoch in range(epochs):
            for idx in torch.randperm(len(past)).split(64):
                pred = self.model(past[idx], future[idx], teacher_forcing=True)
                loss = nn.functional.mse_loss(pred, future[idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            print(f"epoch {epoch} loss {loss.item():.4f}")

    @torch.no_grad()
    def evaluate(self):
        past, future = self.test_data
        self.model.eval()
        pred = self.model(past, future)
        rmse = (pred - future).pow(2).mean((0, 2)).sqrt()
        return rmse


exp = Experiment(seed=18)
exp.train(6)
rmse = exp.evaluate()
print("rmse at horizon 1 / 6 / 12:", [round(rmse[i].item(), 3) for i in (0, 5, 11)])
print("overall", round(rmse.mean().item(), 4))
