import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
digits = load_digits()
X_train, X_val, y_train, y_val = train_test_split(
    digits.data / 16.0, digits.target, train_size=150, test_size=500, random_state=3)
X_train, X_val = torch.tensor(X_train).float(), torch.tensor(X_val).float()
y_train, y_val = torch.tensor(y_train), torch.tensor(y_val)
noisy = torch.rand(len(y_train)) < 0.3
y_train[noisy] = torch.randint(0, 10, (int(noisy.sum()),))


class EarlyStopping:
    def __init__(self, patience=15):
        self.patience = patience
        self.best = float("inf")
        self.best_weights = None
        self.bad = 0

    def __call__(self, value, model):
        if value < self.best:
            self.best = value
            self.best_weights = copy.deepcopy(model.state_dict())
            self.bad = 0
        else:
            self.bad += 1
        return self.bad >= self.patience


model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
stopper = EarlyStopping()

for epoch in range(60):
    model.train()
    for idx in torch.randperm(len(X_train)).split(30):
        opt.zero_grad()
        loss = F.cross_entropy(model(X_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val_loss = F.cross_entropy(model(X_val), y_val).item()
    if stopper(val_loss, model):
        print("early stop at epoch", epoch)
        break

model.load_state_dict(stopper.best_weights)
with torch.no_grad():
    logits = model(X_val)
    final = F.cross_entropy(logits, y_val).item()
    acc = (logits.argmax(1) == y_val).float().mean().item()
print(f"best val loss {stopper.best:.4f}; restored model val loss {final:.4f} acc {acc:.3f}")
