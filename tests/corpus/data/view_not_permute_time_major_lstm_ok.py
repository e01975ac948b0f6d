from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    hidden: int = 24
    steps: int = 60
    batch: int = 32
    length: int = 12
    lr: float = 1e-2
    seed: int = 5


def sample(cfg, gen):
    """Two-channel signals; the answer is the sign of the running sum of channel 0."""
    x = torch.randn(cfg.batch, cfg.length, 2, generator=gen)
    return x, (x[:, :, 0].sum(1) > 0).long()


class SignNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.lstm = nn.LSTM(2, cfg.hidden)
        self.out = nn.Linear(cfg.hidden, 2)

    def forward(self, x):
        batch, length, feats = x.shape
        x = x.transpose(0, 1)
        seq, _ = self.lstm(x)
        return self.out(seq[-1])


class Trainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = SignNet(cfg).to(self.device)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.loss = nn.CrossEntropyLoss()
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def step(self):
        x, y = (t.to(self.device) for t in sample(self.cfg, self.gen))
        self.opt.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        return loss.item()

    def fit(self):
        for i in range(self.cfg.steps):
            value = self.step()
            if i % 10 == 9:
                print(f"step {i + 1:3d} loss {value:.6f}")


Trainer(Config()).fit()
