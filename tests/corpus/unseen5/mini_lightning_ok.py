"""A small Lightning-like module / trainer pair with callbacks."""
import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from torch.utils.data import DataLoader, TensorDataset


class LitModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
        self.logged = {}

    def log(self, key, value, n=1):
        s, c = self.logged.get(key, (0.0, 0))
        self.logged[key] = (s + float(value) * n, c + n)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.net(x).squeeze(1), y)
        self.log("train_loss", loss.detach(), len(y))
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logit = self.net(x).squeeze(1)
        self.log("val_loss", nn.functional.binary_cross_entropy_with_logits(logit, y), len(y))
        self.log("val_acc", ((logit > 0).float() == y).float().mean(), len(y))

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=3e-3)
        return opt, torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)


class EarlyStopping:
    def __init__(self, patience=3):
        self.best, self.bad, self.patience, self.state = float("inf"), 0, patience, None

    def __call__(self, module, metrics):
        if metrics["val_loss"] < self.best - 1e-4:
            self.best, self.bad, self.state = metrics["val_loss"], 0, copy.deepcopy(module.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


class Trainer:
    def __init__(self, max_epochs, callbacks):
        self.max_epochs, self.callbacks = max_epochs, callbacks

    def fit(self, module, train, val):
        opt, sched = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            module.logged.clear()
            module.train()
            for i, batch in enumerate(train):
                loss = module.training_step(batch, i)
                opt.zero_grad()
                loss.backward()
                opt.step()
            module.eval()
            with torch.no_grad():
                for i, batch in enumerate(val):
                    module.validation_step(batch, i)
            metrics = {k: s / c for k, (s, c) in module.logged.items()}
            sched.step(metrics["val_loss"])
            print(epoch, {k: round(v, 4) for k, v in metrics.items()})
            if any([cb(module, metrics) for cb in self.callbacks]):
                break


torch.manual_seed(90)
x, y = load_breast_cancer(return_X_y=True)
perm = torch.randperm(len(x)).numpy()
x, y = x[perm], y[perm]
mean, std = x[:400].mean(0), x[:400].std(0)
x, y = torch.tensor((x - mean) / std, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
train = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=64)
stopper = EarlyStopping()
module = LitModule()
Trainer(12, [stopper]).fit(module, train, val)
module.load_state_dict(stopper.state)
print("restored best val loss", round(stopper.best, 4))
