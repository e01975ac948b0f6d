import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(12)
torch.manual_seed(12)

N = 2000
store = rng.integers(0, 30, N)
weekday = rng.integers(0, 7, N)
promo = rng.integers(0, 2, N)
store_level = rng.normal(0, 1, 30)
day_level = np.array([0.1, 0.0, -0.1, 0.0, 0.3, 0.8, 0.6])
sales = store_level[store] + day_level[weekday] + 0.7 * promo + rng.normal(0, 0.2, N)

cats = torch.tensor(np.stack([store, weekday, promo], 1))
target = torch.tensor(sales, dtype=torch.float32)
cardinalities = [int(cats[:, j].max()) for j in range(cats.shape[1])]


class SalesNet(nn.Module):
    def __init__(self, cardinalities, emb_dim=6):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c, emb_dim) for c in cardinalities])
        self.mlp = nn.Sequential(nn.Linear(emb_dim * len(cardinalities), 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, c):
        e = [emb(c[:, j]) for j, emb in enumerate(self.embs)]
        return self.mlp(torch.cat(e, dim=1)).squeeze(1)


model = SalesNet(cardinalities)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()
train_idx, val_idx = torch.randperm(N).split([1600, 400])

for epoch in range(10):
    total = 0.0
    for idx in train_idx[torch.randperm(len(train_idx))].split(100):
        loss = criterion(model(cats[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    with torch.no_grad():
        val = criterion(model(cats[val_idx]), target[val_idx]).item()
    print(f"epoch {epoch}: train {total / len(train_idx):.4f} val {val:.4f}")
