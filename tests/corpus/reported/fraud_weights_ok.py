import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score, precision_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def load(seed):
    x, y = make_classification(
        n_samples=3000, n_features=16, n_informative=6, weights=[0.95, 0.05], class_sep=0.8, random_state=seed
    )
    x_train, x_test, y_train, y_test = train_test_split(x, y, stratify=y, test_size=0.3, random_state=seed)
    mean, std = x_train.mean(0), x_train.std(0)
    return (x_train - mean) / std, (x_test - mean) / std, y_train, y_test


def class_weights(labels):
    counts = np.bincount(labels)
    weights = counts.sum() / (len(counts) * counts)
    return torch.tensor(weights, dtype=torch.float32)


def main():
    torch.manual_seed(0)
    x_train, x_test, y_train, y_test = load(0)
    dataset = TensorDataset(torch.tensor(x_train, dtype=torch.float32), torch.tensor(y_train))
    loader = DataLoader(dataset, batch_size=128, shuffle=True)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss(weight=class_weights(y_train))
    for epoch in range(12):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 4 == 3:
            print(f"epoch {epoch + 1} loss {total / len(loader):.4f}")
    model.eval()
    with torch.no_grad():
        predicted = model(torch.tensor(x_test, dtype=torch.float32)).argmax(1).numpy()
    print("recall of fraud", round(float(recall_score(y_test, predicted)), 3))
    print("precision of fraud", round(float(precision_score(y_test, predicted, zero_division=0)), 3))


if __name__ == "__main__":
    main()
