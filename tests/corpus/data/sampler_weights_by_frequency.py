import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
X, y = make_classification(n_samples=1200, n_features=12, n_informative=6, n_classes=3, class_sep=1.5,
                           weights=[0.85, 0.11, 0.04], random_state=2)
X_tr, X_va, y_tr, y_va = train_test_split(X.astype(np.float32), y, test_size=0.25, stratify=y, random_state=2)

class_count = np.bincount(y_tr)
class_weight = class_count / class_count.sum()
sample_weight = class_weight[y_tr]
sampler = WeightedRandomSampler(torch.from_numpy(sample_weight).double(), num_samples=len(y_tr), replacement=True)
train_loader = DataLoader(TensorDataset(torch.from_numpy(X_tr), torch.from_numpy(y_tr)), batch_size=60, sampler=sampler)
val_x, val_y = torch.from_numpy(X_va), torch.from_numpy(y_va)

model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        pred = model(val_x).argmax(1)
    recall = [(pred[val_y == c] == c).float().mean().item() for c in range(3)]
    print(f"epoch {epoch} loss {loss.item():.5f} recall " + " ".join(f"{r:.3f}" for r in recall))
