import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1
from torch.utils.data import DataLoader, TensorDataset, random_split


def load_dataset():
    x, y = make_friedman1(n_samples=600, n_features=8, noise=0.5, random_state=0)
    y = (y - 14.0) / 5.0
    return TensorDataset(torch.tensor(x, dtype=torch.float32) * 2 - 1, torch.tensor(y, dtype=torch.float32))


def make_loaders(dataset, val_share=0.25, batch_size=30):
    n_val = int(val_share * len(dataset))
    sizes = [len(dataset) - n_val, n_val]
    train_part, val_part = random_split(dataset, sizes)
    train = DataLoader(train_part, batch_size=batch_size, shuffle=True)
    val = DataLoader(val_part, batch_size=batch_size)
    return train, val


def train_one_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x).squeeze(-1), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * x.size(0)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x).squeeze(-1), y, reduction="sum").item()
    return total / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(17)
    train, val = make_loaders(load_dataset())
    model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(7):
        print(f"epoch {epoch}: train mse {train_one_epoch(model, train, optimizer):.5f} val mse {validate(model, val):.5f}")
