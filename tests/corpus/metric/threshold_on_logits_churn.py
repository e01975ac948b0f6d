import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset, random_split


def get_data():
    x, y = make_classification(1000, 10, n_informative=5, class_sep=0.8, random_state=4)
    full = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
    return random_split(full, [800, 200], generator=torch.Generator().manual_seed(4))


class ChurnNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    last = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        last = loss.item()
    return last


def evaluate(model, loader, criterion):
    model.eval()
    loss_sum, correct = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            outputs = model(x)
            loss_sum += criterion(outputs, y).item() * len(y)
            preds = (outputs > 0.5).float()
            correct += (preds == y).sum().item()
    n = len(loader.dataset)
    return loss_sum / n, correct / n


if __name__ == "__main__":
    torch.manual_seed(4)
    train_set, val_set = get_data()
    train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=100)
    model = ChurnNet(10)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        tr = train_epoch(model, train_loader, criterion, optimizer)
        va, acc = evaluate(model, val_loader, criterion)
        print(f"epoch {epoch}: train {tr:.5f} val {va:.5f} acc {acc:.3f}")
