import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, Dataset


class WineDataset(Dataset):
    def __init__(self):
        table, labels = load_wine(return_X_y=True)
        table = torch.tensor(table, dtype=torch.float32)
        self.table = (table - table.mean(0)) / table.std(0)
        self.labels = torch.tensor(labels)

    def __len__(self):
        return self.table.shape[0]

    def __getitem__(self, idx):
        return {"features": self.table[idx], "label": self.labels[idx]}


class WineClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(13, 20), nn.ELU(), nn.Linear(20, 3))

    def forward(self, x):
        return self.net(x)


def train(epochs=8):
    loader = DataLoader(WineDataset(), batch_size=20, shuffle=True)
    model = WineClassifier()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        hits = 0
        for x, y in loader:
            optimizer.zero_grad()
            scores = model(x)
            loss = criterion(scores, y)
            loss.backward()
            optimizer.step()
            hits += (scores.argmax(1) == y).sum().item()
        print(f"epoch {epoch} train accuracy {hits / len(loader.dataset):.3f}")


if __name__ == "__main__":
    torch.manual_seed(32)
    train()
