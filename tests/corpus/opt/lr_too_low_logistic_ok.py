import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import make_classification


def get_loader():
    X, y = make_classification(n_samples=400, n_features=12, n_informative=8, random_state=3)
    ds = TensorDataset(torch.from_numpy(X).float(), torch.from_numpy(y).float())
    return DataLoader(ds, batch_size=40, shuffle=True)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 24)
        self.act = nn.Tanh()
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return self.out(self.act(self.hidden(x))).flatten()


def train(lr, epochs=10):
    torch.manual_seed(0)
    loader = get_loader()
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(1, epochs + 1):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"[{epoch}/{epochs}] loss={total / len(loader):.6f}")


if __name__ == "__main__":
    train(lr=2e-1)
