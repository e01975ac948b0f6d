import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(15)
n_movies, n_feats, n_tags = 2000, 30, 6
feats = torch.randn(n_movies, n_feats)
planes = torch.randn(n_feats, n_tags) / n_feats ** 0.5
scores = feats @ planes + 0.35 * torch.randn(n_movies, n_tags)
tags = (scores > 1.3).float()
print("tag frequency", tags.mean(0).tolist())

train_x, train_y = feats[:1500], tags[:1500]
test_x, test_y = feats[1500:], tags[1500:]
loader = DataLoader(TensorDataset(train_x, train_y), batch_size=50, shuffle=True)

positives = train_y.sum(0)
negatives = len(train_y) - positives
pos_weight = positives / negatives

model = nn.Sequential(nn.Linear(n_feats, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, n_tags))
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def scores_per_tag(model):
    model.eval()
    with torch.no_grad():
        pred = (torch.sigmoid(model(test_x)) > 0.5).float()
    tp = (pred * test_y).sum(0)
    recall = tp / test_y.sum(0)
    precision = tp / pred.sum(0).clamp(min=1)
    return precision, recall


for epoch in range(12):
    model.train()
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 3 == 2:
        p, r = scores_per_tag(model)
        print(f"epoch {epoch + 1} loss {running / len(loader):.4f} precision {p.mean():.3f} recall {r.mean():.3f}")
