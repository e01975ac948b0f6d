"""Keeps the weights of the best epoch and tests with them."""
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(11)


class Trainer:
    def __init__(self, model, lr=0.05, patience=6):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.criterion = nn.CrossEntropyLoss()
        self.patience = patience
        self.best_accuracy = 0.0
        self.best_state = None

    def epoch(self, x, y, size=32):
        self.model.train()
        for rows in torch.randperm(len(x)).split(size):
            self.optimizer.zero_grad()
            self.criterion(self.model(x[rows]), y[rows]).backward()
            self.optimizer.step()

    @torch.no_grad()
    def accuracy(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()

    def fit(self, train, val, epochs):
        waited = 0
        for number in range(epochs):
            self.epoch(*train)
            accuracy = self.accuracy(*val)
            print(f"epoch {number}: {accuracy:.4f}")
            if accuracy > self.best_accuracy:
                self.best_accuracy = accuracy
                self.best_state = self.model.state_dict()
                waited = 0
            else:
                waited += 1
                if waited >= self.patience:
                    break
        self.model.load_state_dict(self.best_state)


def split(x, y):
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(5))
    parts = order[:1000], order[1000:1400], order[1400:]
    return [(x[part], y[part]) for part in parts]


images, labels = load_digits(return_X_y=True)
images = torch.tensor(images / 16, dtype=torch.float32)
labels = torch.tensor(labels)
train, val, test = split(images, labels)
network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
trainer = Trainer(network)
trainer.fit(train, val, epochs=25)
print(f"best val {trainer.best_accuracy:.4f} restored {trainer.accuracy(*val):.4f} test {trainer.accuracy(*test):.4f}")
