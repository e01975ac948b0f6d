import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


class FocalLoss(nn.Module):
    def __init__(self, gamma=1.5):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        pt = torch.exp(-ce)
        return ((1 - pt) ** self.gamma * ce).mean()


torch.manual_seed(20)
X, y = make_classification(4000, 15, n_informative=7, weights=[0.93], class_sep=0.9, random_state=20)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=20)
X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
y_tr, y_te = torch.tensor(y_tr).float(), torch.tensor(y_te).float()

counts = torch.bincount(y_tr.long())
weights = (1.0 / counts.sqrt())[y_tr.long()]
sampler = WeightedRandomSampler(weights, num_samples=len(y_tr), replacement=True)
loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=64, sampler=sampler)

net = nn.Sequential(nn.Linear(15, 48), nn.ReLU(), nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
criterion = FocalLoss()
for epoch in range(8):
    total = seen = pos = 0
    for x, t in loader:
        loss = criterion(net(x).squeeze(1), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(t)
        seen += len(t)
        pos += t.sum().item()
    with torch.no_grad():
        ap = average_precision_score(y_te.numpy(), torch.sigmoid(net(X_te).squeeze(1)).numpy())
    print(f"epoch {epoch} focal {total / seen:.4f} positives drawn {pos / seen:.2f} average precision {ap:.3f}")
