"""A rare class is repeated until both classes have the same weight."""
import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data():
    x, y = make_classification(
        1500, n_features=16, n_informative=5, weights=[0.94], flip_y=0.03, class_sep=0.8, random_state=8
    )
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


def oversample(x, y):
    positive = (y == 1).nonzero().squeeze(1)
    times = int((y == 0).sum() // len(positive))
    extra = positive.repeat(times - 1)
    rows = torch.cat([torch.arange(len(y)), extra])
    return x[rows], y[rows]


def split(x, y, share=0.25):
    order = torch.randperm(len(x))
    cut = int(len(x) * share)
    return (x[order[cut:]], y[order[cut:]]), (x[order[:cut]], y[order[:cut]])


class Classifier(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def recall(model, x, y):
    model.eval()
    with torch.no_grad():
        flagged = model(x) > 0
    return (flagged & (y == 1)).sum().item() / max(1, (y == 1).sum().item())


def main():
    torch.manual_seed(6)
    x, y = make_data()
    x, y = oversample(x, y)
    (x_train, y_train), (x_val, y_val) = split(x, y)
    loader = DataLoader(TensorDataset(x_train, y_train), batch_size=128, shuffle=True)
    model = Classifier(x.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(15):
        model.train()
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss_fn(model(inputs), targets).backward()
            optimizer.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch} val recall {recall(model, x_val, y_val):.4f}")


if __name__ == "__main__":
    main()
