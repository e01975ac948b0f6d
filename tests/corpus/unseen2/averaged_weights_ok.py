import copy

import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split


class EMA:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.mul_(self.decay).add_(p, alpha=1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


def accuracy(model, X, y):
    model.eval()
    with torch.no_grad():
        return (model(X).argmax(1) == y).float().mean().item()


torch.manual_seed(11)
X, y = make_classification(2000, 20, n_informative=10, n_classes=4, flip_y=0.1, random_state=11)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=11)
X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 4))
ema = EMA(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(12):
    model.train()
    for idx in torch.randperm(len(X_tr)).split(50):
        loss = nn.functional.cross_entropy(model(X_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(model)
    print(f"epoch {epoch} raw {accuracy(model, X_te, y_te):.3f} averaged {accuracy(ema.shadow, X_te, y_te):.3f}")
