import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, TensorDataset


class Learner:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def fit_one_epoch(self, loader):
        self.model.train()
        all_logits, all_targets, losses = [], [], []
        for xb, yb in loader:
            logits = self.model(xb)
            loss = self.loss_fn(logits, yb)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            all_logits.append(logits.detach())
            all_targets.append(yb)
            losses.append(loss.item())
        with torch.no_grad():
            pred = torch.cat(all_logits).argmax(1)
        f1 = f1_score(torch.cat(all_targets).numpy(), pred.numpy(), average="macro")
        return sum(losses) / len(losses), f1

    def evaluate(self, x, y):
        self.model.eval()
        with torch.no_grad():
            return f1_score(y.numpy(), self.model(x).argmax(1).numpy(), average="macro")


torch.manual_seed(0)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
learner = Learner(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10)))
loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=40, shuffle=True)
for epoch in range(4):
    loss, f1 = learner.fit_one_epoch(loader)
    print(f"epoch {epoch} loss {loss:.5f} train f1 {f1:.4f} val f1 {learner.evaluate(x[1200:], y[1200:]):.4f}")
