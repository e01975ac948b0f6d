import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification


class WeightAverage:
    """Keeps a moving average of a model and can put it into another one."""

    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.shadow = copy.deepcopy(model)
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ema_param, param in zip(self.shadow.parameters(), model.parameters()):
            ema_param.mul_(self.decay).add_(param, alpha=1 - self.decay)

    @torch.no_grad()
    def store_into(self, model):
        for ema_param, param in zip(self.shadow.parameters(), model.parameters()):
            param.copy_(ema_param)


def build():
    return nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(6)
    x, y = make_classification(1200, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=6)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    x_train, y_train, x_test, y_test = x[:800], y[:800], x[800:], y[800:]
    model, final = build(), build()
    final.load_state_dict(model.state_dict())
    average = WeightAverage(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for epoch in range(8):
        model.train()
        for idx in torch.randperm(len(x_train)).split(16):
            loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update(model)
    average.store_into(final)
    print("last weights     loss %.3f acc %.3f" % evaluate(model, x_test, y_test))
    print("averaged weights loss %.3f acc %.3f" % evaluate(final, x_test, y_test))


if __name__ == "__main__":
    main()
