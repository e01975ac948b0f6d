import copy

import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_parts(seed):
    x, y = make_classification(700, 50, n_informative=5, n_redundant=0, flip_y=0.25, random_state=seed)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
    return random_split(data, [400, 150, 150], generator=torch.Generator().manual_seed(seed))


def accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def train_epoch(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(12)
    train_set, val_set, test_set = make_parts(12)
    train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=150)
    test_loader = DataLoader(test_set, batch_size=150)
    model = nn.Sequential(nn.Linear(50, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    best, best_state = 0.0, copy.deepcopy(model.state_dict())
    for epoch in range(40):
        train_epoch(model, train_loader, optimizer)
        score = accuracy(model, val_loader)
        if score > best:
            best, best_state = score, copy.deepcopy(model.state_dict())
    model.load_state_dict(best_state)
    print(f"validation accuracy {accuracy(model, val_loader):.3f}")
    print(f"final test accuracy {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
