import torch
import torch.nn as nn
from sklearn.datasets import make_circles
from sklearn.model_selection import train_test_split


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
        nn.init.zeros_(m.bias)


class RingNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 2),
        )
        self.apply(init_weights)

    def forward(self, x):
        return self.net(x)


def main(seed=5, epochs=80):
    torch.manual_seed(seed)
    X, y = make_circles(1000, noise=0.08, factor=0.5, random_state=seed)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=seed)
    X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    net = RingNet()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    lossf = nn.CrossEntropyLoss()
    for ep in range(1, epochs + 1):
        for idx in torch.randperm(len(X_tr)).split(100):
            opt.zero_grad()
            loss = lossf(net(X_tr[idx]), y_tr[idx])
            loss.backward()
            opt.step()
        if ep % 20 == 0:
            with torch.no_grad():
                acc = (net(X_te).argmax(1) == y_te).float().mean().item()
            print(f"epoch {ep:3d} loss {loss.item():.4f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
