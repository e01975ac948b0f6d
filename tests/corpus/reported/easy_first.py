"""Curriculum: start with points far from the class border, then add harder ones."""
import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def data(seed=82):
    x, y = make_moons(n_samples=1200, noise=0.2, random_state=seed)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    return TensorDataset(x[:900], y[:900]), x[900:], y[900:]


def difficulty(dataset):
    x, y = dataset.tensors
    distances = torch.cdist(x, x)
    other = y[:, None] != y[None, :]
    nearest_other = distances.masked_fill(~other, float("inf")).min(dim=1).values
    return -nearest_other


def train(model, dataset, test_x, test_y, epochs=12):
    order = difficulty(dataset).argsort().tolist()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    loader = DataLoader(Subset(dataset, order[:int(0.3 * len(order))]), batch_size=50, shuffle=True)
    for epoch in range(epochs):
        fraction = min(1.0, 0.3 + 0.7 * epoch / (epochs - 3))
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        if epoch % 3 == 2:
            model.eval()
            with torch.no_grad():
                accuracy = (model(test_x).argmax(1) == test_y).float().mean().item()
            print(f"epoch {epoch + 1} fraction {fraction:.2f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    torch.manual_seed(82)
    dataset, test_x, test_y = data()
    net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    train(net, dataset, test_x, test_y)
