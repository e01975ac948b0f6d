import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

NUM_CLASSES = 10


def mixup(x, y, alpha=0.2):
    lam = np.random.beta(alpha, alpha)
    index = torch.randperm(x.size(0))
    y = F.one_hot(y, NUM_CLASSES).float()
    return lam * x + (1 - lam) * x[index], lam * y + (1 - lam) * y[index]


def train_one_epoch(model, x, y, criterion, optimizer, batch_size):
    model.train()
    losses = []
    for idx in torch.randperm(len(x)).split(batch_size):
        images, targets = mixup(x[idx], y[idx])
        outputs = model(images)
        loss = criterion(targets, outputs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return np.mean(losses)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    np.random.seed(0)
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    X_tr, X_va, y_tr, y_va = train_test_split(X[:600] / 16.0, y[:600], test_size=100, random_state=0)
    X_tr, X_va = torch.tensor(X_tr, dtype=torch.float32), torch.tensor(X_va, dtype=torch.float32)
    y_tr, y_va = torch.tensor(y_tr), torch.tensor(y_va)
    model = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, NUM_CLASSES))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for epoch in range(6):
        loss = train_one_epoch(model, X_tr, y_tr, criterion, optimizer, 50)
        print(f"epoch {epoch}: loss {loss:.4f}, val acc {evaluate(model, X_va, y_va):.4f}")


if __name__ == "__main__":
    main()
