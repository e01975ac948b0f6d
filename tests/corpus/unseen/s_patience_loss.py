import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)


class Trainer:
    def __init__(self, model, patience=3, max_epochs=25):
        self.model = model
        self.patience = patience
        self.max_epochs = max_epochs
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.criterion = nn.CrossEntropyLoss()
        self.best_loss = 0.0
        self.best_state = {k: v.clone() for k, v in model.state_dict().items()}
        self.wait = 0

    def _train(self, loader):
        self.model.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def _validate(self, loader):
        self.model.eval()
        loss = hits = n = 0
        for x, y in loader:
            out = self.model(x)
            loss += self.criterion(out, y).item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
        return loss / n, hits / n

    def fit(self, train_loader, val_loader):
        for epoch in range(self.max_epochs):
            self._train(train_loader)
            val_loss, val_acc = self._validate(val_loader)
            if val_loss < self.best_loss:
                self.best_loss, self.wait = val_loss, 0
                self.best_state = {k: v.clone() for k, v in self.model.state_dict().items()}
            else:
                self.wait += 1
                if self.wait >= self.patience:
                    print("stopping early at epoch", epoch)
                    break
        self.model.load_state_dict(self.best_state)
        return self._validate(val_loader)


digits = load_digits()
x = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)
train_loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=60, shuffle=True)
val_loader = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=200)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
loss, acc = Trainer(net).fit(train_loader, val_loader)
print(f"restored model: val loss {loss:.4f} val acc {acc:.4f}")
