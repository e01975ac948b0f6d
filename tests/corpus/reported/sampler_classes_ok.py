import argparse

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def make_loader(x, y, batch_size):
    counts = np.bincount(y)
    class_weights = torch.tensor(1.0 / counts, dtype=torch.double)
    sampler = WeightedRandomSampler(class_weights[torch.from_numpy(y)], num_samples=len(y), replacement=True)
    dataset = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.from_numpy(y))
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        predicted = model(torch.tensor(x, dtype=torch.float32)).argmax(dim=1)
    return balanced_accuracy_score(y, predicted.numpy())


def main():
    parser = argparse.ArgumentParser(description="Imbalanced classes with a sampler")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    x, y = make_classification(
        2000, 16, n_informative=10, n_classes=4, weights=[0.7, 0.15, 0.1, 0.05], class_sep=1.5, random_state=args.seed
    )
    x_train, x_test, y_train, y_test = train_test_split(x, y, stratify=y, random_state=args.seed)
    loader = make_loader(x_train, y_train, args.batch_size)
    model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        score = evaluate(model, x_test, y_test)
        print(f"epoch {epoch} loss {total / len(loader):.3f} balanced accuracy {score:.3f}")


if __name__ == "__main__":
    main()
