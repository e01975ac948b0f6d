"""Train a new head first, then unfreeze the encoder and tune everything."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_data():
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    data = TensorDataset(x, torch.tensor(y))
    return random_split(data, [1400, len(data) - 1400], generator=torch.Generator().manual_seed(1))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        )
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.encoder(x))


def accuracy(model, loader):
    model.eval()
    hits = count = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
            count += len(y)
    return hits / count


def main():
    torch.manual_seed(1)
    train_set, val_set = make_data()
    train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=200)
    model = Classifier()
    for p in model.encoder.parameters():
        p.requires_grad = False
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=5e-3)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(10):
        if epoch == 3:
            print("unfreezing the encoder")
            for p in model.encoder.parameters():
                p.requires_grad = True
            optimizer.add_param_group({"params": list(model.encoder.parameters()), "lr": 3e-3})
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f} val acc {accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
