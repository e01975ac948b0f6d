import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
from torch.utils.data import DataLoader, TensorDataset


class Experiment:
    def __init__(self):
        x = torch.randn(160, 6)
        y = (x.sum(1) > 0).long()
        self.train_dataset = TensorDataset(x[:128], y[:128])
        self.eval_dataset = TensorDataset(x[128:], y[128:])
        self.model = nn.Linear(6, 2)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.2)

    def fit(self):
        self.model.train()
        for x, y in DataLoader(self.train_dataset, batch_size=16, shuffle=True):
            self.opt.zero_grad()
            F.cross_entropy(self.model(x), y).backward()
            self.opt.step()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        hits = 0
        for x, y in DataLoader(self.eval_dataset, batch_size=16):
            hits += (self.model(x).argmax(1) == y).sum().item()
        return hits / len(self.eval_dataset)


run = Experiment()
for epoch in range(3):
    run.fit()
    print(epoch, run.evaluate())
