import torch
from torch import nn
from sklearn.datasets import load_digits


class ScreenNet(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.l1 = nn.Linear(n_in, 64)
        self.l2 = nn.Linear(64, n_out)

    def forward(self, x):
        x = torch.relu(self.l1(x))
        return self.l2(x)


def load():
    d = load_digits()
    X = torch.tensor(d.data / 16.0, dtype=torch.float32)
    y = torch.tensor(d.target)
    return X[:1400], y[:1400], X[1400:], y[1400:]


def main():
    torch.manual_seed(0)
    X, y, Xt, yt = load()
    model = ScreenNet(64, 10)
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        model.train()
        total = 0
        for idx in torch.randperm(len(X)).split(50):
            loss = loss_fn(model(X[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(Xt).argmax(1) == yt).float().mean()
        print(f"epoch {epoch} loss {total / 28:.4f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
