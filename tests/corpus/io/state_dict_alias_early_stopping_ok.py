import torch
from sklearn.datasets import make_regression
from torch import nn


class EarlyStopping:
    def __init__(self, patience=5):
        self.patience, self.bad, self.best, self.snapshot = patience, 0, None, None

    def update(self, value, model):
        if self.best is None or value < self.best:
            self.best, self.bad = value, 0
            self.snapshot = {k: v.detach().clone() for k, v in model.state_dict().items()}
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.snapshot)


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 128)
        self.b = nn.Linear(128, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).squeeze(1)


def main():
    torch.manual_seed(0)
    X, y = make_regression(n_samples=160, n_features=12, n_informative=4, noise=20.0, random_state=0)
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y / 100, dtype=torch.float32)
    Xt, yt, Xv, yv = X[:80], y[:80], X[80:], y[80:]
    model, stopper = Wide(), EarlyStopping(patience=8)
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(100):
        model.train()
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(Xt), yt)
        loss.backward()
        opt.step()
        model.eval()
        with torch.no_grad():
            val = nn.functional.mse_loss(model(Xv), yv).item()
        if epoch % 10 == 0:
            print(f"epoch {epoch} train {loss.item():.5f} val {val:.5f}")
        if stopper.update(val, model):
            print(f"stopped at epoch {epoch}")
            break
    stopper.restore(model)
    with torch.no_grad():
        print(f"best {stopper.best:.5f} final {nn.functional.mse_loss(model(Xv), yv).item():.5f}")


if __name__ == "__main__":
    main()
