"""A small trainer with hooks around the phases of a step."""
from collections import defaultdict

import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split


class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
        self.hooks = defaultdict(list)
        self.history = []

    def on(self, event, function):
        self.hooks[event].append(function)

    def emit(self, event):
        for function in self.hooks[event]:
            function(self)

    def step(self, x, y):
        self.model.train()
        self.emit("before_forward")
        self.loss = self.criterion(self.model(x), y)
        self.emit("before_backward")
        self.loss.backward()
        self.emit("after_backward")
        self.optimizer.step()
        self.emit("after_step")

    def accuracy(self, x, y):
        self.model.eval()
        with torch.no_grad():
            return (self.model(x).argmax(1) == y).float().mean().item()


def clear_gradients(trainer):
    trainer.optimizer.zero_grad()


def log_loss(trainer):
    trainer.history.append(trainer.loss.item())


def main():
    torch.manual_seed(0)
    x, y = load_wine(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0, stratify=y)
    mean, std = x_train.mean(0), x_train.std(0)
    x_train = torch.tensor((x_train - mean) / std, dtype=torch.float32)
    x_test = torch.tensor((x_test - mean) / std, dtype=torch.float32)
    y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

    model = nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))
    trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), nn.CrossEntropyLoss())
    trainer.on("after_backward", clear_gradients)
    trainer.on("after_step", log_loss)
    for epoch in range(20):
        for idx in torch.randperm(len(x_train)).split(32):
            trainer.step(x_train[idx], y_train[idx])
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} loss {trainer.history[-1]:.3f} accuracy {trainer.accuracy(x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
