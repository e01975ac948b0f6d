import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Experiment:
    def __init__(self, hidden=48, lr=0.05, epochs=4):
        torch.manual_seed(0)
        x, y = load_digits(return_X_y=True)
        x, y = torch.tensor(x / 16.0).float(), torch.tensor(y)
        self.train_dl = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=80, shuffle=True)
        self.val_dl = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=200)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = nn.Sequential(nn.Linear(64, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, 10))
        self.model.to(self.device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=epochs)
        self.epochs = epochs

    def train_epoch(self):
        self.model.train()
        for x, y in self.train_dl:
            loss = nn.functional.cross_entropy(self.model(x.to(self.device)), y.to(self.device))
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()

    def validate(self):
        self.model.eval()
        loss, hits = 0.0, 0
        with torch.no_grad():
            for x, y in self.val_dl:
                x, y = x.to(self.device), y.to(self.device)
                logits = self.model(x)
                loss += nn.functional.cross_entropy(logits, y, reduction="sum").item()
                hits += (logits.argmax(1) == y).sum().item()
        n = len(self.val_dl.dataset)
        return loss / n, hits / n

    def run(self):
        for epoch in range(self.epochs):
            train_loss = self.train_epoch()
            val_loss, val_acc = self.validate()
            self.sched.step()
            print(f"epoch {epoch} train {train_loss:.5f} val {val_loss:.5f} acc {val_acc:.4f}")


Experiment().run()
