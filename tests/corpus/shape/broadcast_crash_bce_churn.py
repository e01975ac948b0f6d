import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ChurnDataset(Dataset):
    def __init__(self, n=400, seed=8):
        rng = np.random.default_rng(seed)
        self.x = rng.standard_normal((n, 6)).astype(np.float32)
        w = np.array([1.5, -2.0, 0.0, 0.5, 0.0, 1.0], dtype=np.float32)
        self.y = (self.x @ w + 0.3 * rng.standard_normal(n) > 0).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor(self.y[i])


class ChurnModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x)


def fit(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(epochs):
        total_loss = 0.0
        correct = 0
        for features, churned in loader:
            logits = model(features)
            loss = criterion(logits, churned)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(features)
            correct += ((logits > 0).float() == churned).sum().item()
        n = len(loader.dataset)
        print(f"Epoch {epoch}: loss {total_loss / n:.5f}, train acc {correct / n:.4f}")


if __name__ == "__main__":
    torch.manual_seed(8)
    fit(ChurnModel(), DataLoader(ChurnDataset(), batch_size=40, shuffle=True), epochs=6)
