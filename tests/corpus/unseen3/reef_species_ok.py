import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(7)
torch.manual_seed(7)
SPECIES, FEATURES = 5, 16
means = rng.normal(size=(SPECIES, FEATURES)) * 0.9


def survey(per_species):
    y = np.repeat(np.arange(SPECIES), per_species)
    x = means[y] + rng.normal(size=(len(y), FEATURES))
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


class ReefNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(FEATURES, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3),
            nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, SPECIES))

    def forward(self, x):
        return self.net(x)


train_loader = DataLoader(survey(120), batch_size=30, shuffle=True)
test_loader = DataLoader(survey(60), batch_size=30)
model = ReefNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()


def test():
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    return correct / len(test_loader.dataset)


for epoch in range(8):
    model.train()
    hits = 0
    for x, y in train_loader:
        logits = model(x)
        loss = criterion(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(1) == y).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} train acc {hits / 600:.3f} test acc {test():.3f}")
