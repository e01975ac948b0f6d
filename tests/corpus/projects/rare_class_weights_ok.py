"""Rare classes get weights in the loss."""
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset


def make_splits():
    x, y = make_classification(
        2000, n_features=12, n_informative=6, n_classes=3, weights=[0.85, 0.1, 0.05], class_sep=1.0, random_state=3
    )
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    return (x[:1500], y[:1500]), (x[1500:], y[1500:])


def class_weights(labels, classes):
    counts = torch.bincount(labels, minlength=classes).float()
    weights = counts.sum() / (classes * counts)
    return weights


class Net(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, classes))

    def forward(self, x):
        return self.layers(x)


def balanced_accuracy(model, x, y, classes):
    model.eval()
    with torch.no_grad():
        guess = model(x).argmax(1)
    recalls = [(guess[y == c] == c).float().mean() for c in range(classes)]
    return torch.stack(recalls)


def main(classes=3, epochs=12):
    torch.manual_seed(3)
    (x_train, y_train), (x_test, y_test) = make_splits()
    loader = DataLoader(TensorDataset(x_train, y_train), batch_size=50, shuffle=True)
    model = Net(x_train.shape[1], classes)
    criterion = nn.CrossEntropyLoss(weight=class_weights(y_train, classes))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        if epoch % 4 == 3:
            recalls = balanced_accuracy(model, x_test, y_test, classes)
            shown = " ".join(f"{r:.3f}" for r in recalls)
            print(f"epoch {epoch} loss {running / len(loader):.4f} recalls {shown}")


if __name__ == "__main__":
    main()
