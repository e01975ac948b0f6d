import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)


class Config:
    batch_size = 60
    epochs = 4
    lr = 2e-3


class BNNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, 48, bias=False), nn.BatchNorm1d(48), nn.ReLU(),
            nn.Linear(48, 24, bias=False), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 10))

    def forward(self, x):
        return self.net(x)


def get_loaders(cfg):
    digits = load_digits()
    full = TensorDataset(torch.tensor(digits.data / 16.0).float(), torch.tensor(digits.target))
    train, val = random_split(full, [1381, 416])
    train_loader = DataLoader(train, batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    return train_loader, DataLoader(val, batch_size=cfg.batch_size)


def main():
    cfg = Config()
    train_loader, val_loader = get_loaders(cfg)
    model = BNNet()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(cfg.epochs):
        model.train()
        for step, (x, y) in enumerate(train_loader):
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            if step % 10 == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
        model.eval()
        with torch.no_grad():
            hits = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader)
        print(f"epoch {epoch} val acc {hits / 416:.4f}")


if __name__ == "__main__":
    main()
