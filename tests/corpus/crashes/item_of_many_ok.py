import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.L1Loss()

    def epoch(self, x, y):
        total, n = 0.0, 0
        for rows in torch.randperm(len(x)).split(25):
            self.opt.zero_grad()
            loss = self.criterion(self.model(x[rows]), y[rows])
            loss.mean().backward()
            self.opt.step()
            total += loss.item() * len(rows)
            n += len(rows)
        return total / n


torch.manual_seed(0)
x = torch.randn(200, 3)
trainer = Trainer(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)))
for epoch in range(5):
    print(epoch, trainer.epoch(x, x.sum(1, keepdim=True)))
