import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X).astype(np.float32)
y = y.astype(np.float32)
perm = np.random.default_rng(0).permutation(len(X))
tr, va = perm[:420], perm[420:]
train_loader = DataLoader(TensorDataset(torch.tensor(X[tr]), torch.tensor(y[tr])), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(torch.tensor(X[va]), torch.tensor(y[va])), batch_size=64)

model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()


def train_one_epoch():
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            logits = model(xb).squeeze(1)
        loss = bce(logits.float(), yb)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.inference_mode()
def validate():
    model.eval()
    probs, labels = [], []
    for xb, yb in val_loader:
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            p = torch.sigmoid(model(xb).squeeze(1))
        probs.append(p.cpu())
        labels.append(yb)
    scores = torch.cat(probs).numpy()
    return roc_auc_score(torch.cat(labels).numpy(), scores)


for epoch in range(5):
    loss = train_one_epoch()
    print(f"epoch {epoch} loss {loss:.4f} val auc {validate():.4f}")
