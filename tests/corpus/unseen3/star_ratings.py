import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
torch.manual_seed(0)
n_users, n_books, n_obs = 60, 40, 1500
users = rng.integers(0, n_users, n_obs)
books = rng.integers(0, n_books, n_obs)
taste, quality = rng.normal(size=n_users), rng.normal(size=n_books)
ratings = np.clip(np.round(3 + taste[users] * 0.7 + quality[books]), 1, 5).astype(np.int64)
print("ratings seen:", np.unique(ratings))


class StarNet(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.u = nn.Embedding(n_users, d)
        self.b = nn.Embedding(n_books, d)
        self.out = nn.Sequential(nn.Linear(2 * d, 32), nn.ReLU(), nn.Linear(32, 5))

    def forward(self, u, b):
        return self.out(torch.cat([self.u(u), self.b(b)], dim=1))


dataset = TensorDataset(torch.from_numpy(users), torch.from_numpy(books), torch.from_numpy(ratings))
loader = DataLoader(dataset, batch_size=50, shuffle=True)
model = StarNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    loss_sum = correct = 0
    for u, b, r in loader:
        logits = model(u, b)
        loss = criterion(logits, r)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
        correct += (logits.argmax(1) == r).sum().item()
    print(f"epoch {epoch}: loss {loss_sum / len(loader):.3f} accuracy {correct / n_obs:.3f}")
