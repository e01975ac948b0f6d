import torch
from torch import nn
from sklearn.datasets import make_friedman2
from torch.utils.data import DataLoader, TensorDataset


class ResidualMLP(nn.Module):
    def __init__(self, n_in, width=32, depth=4):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.blocks = [nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)]
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x).squeeze(-1)


def main():
    torch.manual_seed(0)
    x, y = make_friedman2(n_samples=700, noise=5.0, random_state=0)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    x_tr, x_te, y_tr, y_te = x[:560], x[560:], y[:560], y[560:]
    mx, sx, my, sy = x_tr.mean(0), x_tr.std(0), y_tr.mean(), y_tr.std()
    train = DataLoader(TensorDataset((x_tr - mx) / sx, (y_tr - my) / sy), batch_size=56, shuffle=True)
    x_te, y_te = (x_te - mx) / sx, (y_te - my) / sy

    model = ResidualMLP(4)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        for xb, yb in train:
            loss = nn.functional.mse_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            test = nn.functional.mse_loss(model(x_te), y_te)
        print(f"epoch {epoch} train {loss.item():.5f} test {test.item():.5f}")


main()
