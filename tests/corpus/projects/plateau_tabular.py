"""Regression on a made table; the learning rate follows the validation loss."""
import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Table(Dataset):
    def __init__(self, rows, seed):
        x, y = make_friedman1(rows, n_features=10, noise=0.3, random_state=seed)
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor((y - 14.4) / 4.9, dtype=torch.float32).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return {"x": self.x[index], "y": self.y[index]}


class Regressor(nn.Module):
    def __init__(self, features, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.net(x)


def fit(model, train, val, epochs=15, lr=1e-2):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, mode="max", factor=0.3, patience=1
    )
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        model.train()
        for batch in train:
            optimizer.zero_grad()
            loss_fn(model(batch["x"]), batch["y"]).backward()
            optimizer.step()
        val_loss = score(model, val, loss_fn)
        scheduler.step(val_loss)
        print(f"{epoch:2d} val {val_loss:.4f} lr {optimizer.param_groups[0]['lr']:.2e}")


@torch.no_grad()
def score(model, loader, loss_fn):
    model.eval()
    losses = [loss_fn(model(b["x"]), b["y"]) * len(b["y"]) for b in loader]
    return (sum(losses) / len(loader.dataset)).item()


if __name__ == "__main__":
    torch.manual_seed(4)
    train_loader = DataLoader(Table(800, 1), batch_size=64, shuffle=True)
    val_loader = DataLoader(Table(300, 2), batch_size=300)
    fit(Regressor(10), train_loader, val_loader)
