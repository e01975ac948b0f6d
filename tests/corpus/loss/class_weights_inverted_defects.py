import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = make_classification(n_samples=900, n_features=12, n_informative=6, n_classes=3, weights=[0.85, 0.1, 0.05],
                           class_sep=0.8, flip_y=0.0, random_state=3)
X_tr, X_te, y_tr, y_te = train_test_split(X.astype(np.float32), y, test_size=0.25, stratify=y, random_state=3)

counts = np.bincount(y_tr)
class_weights = counts * len(counts) / counts.sum()
class_weights = torch.tensor(class_weights, dtype=torch.float32)
print("class counts:", counts.tolist(), "weights:", [round(w, 3) for w in class_weights.tolist()])

loader = DataLoader(TensorDataset(torch.from_numpy(X_tr), torch.from_numpy(y_tr)), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss(weight=class_weights)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(8):
    model.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        pred = model(torch.from_numpy(X_te)).argmax(dim=1).numpy()
    recalls = recall_score(y_te, pred, average=None, zero_division=0)
    print(f"epoch {epoch} loss {loss.item():.5f} recall {np.round(recalls, 3).tolist()}")
