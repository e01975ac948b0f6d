from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim


@dataclass
class Config:
    seq_len: int = 24
    hidden: int = 24
    batch: int = 32
    steps: int = 60
    lr: float = 0.01
    seed: int = 3


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out[:, -1]).squeeze(-1)


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.optimizer = optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
        self.rng = np.random.default_rng(cfg.seed)

    def make_batch(self):
        start = self.rng.uniform(0, 6.28, size=(self.cfg.batch, 1))
        t = start + 0.3 * np.arange(self.cfg.seq_len + 1)
        wave = np.sin(t).astype(np.float32)
        return torch.from_numpy(wave[:, :-1, None]), torch.from_numpy(wave[:, -1])

    def training_step(self, x, y):
        return F.mse_loss(self.model(x), y)

    def optimizer_step(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()

    def fit(self):
        history = []
        for step in range(self.cfg.steps):
            x, y = self.make_batch()
            loss = self.training_step(x, y)
            self.optimizer_step(loss)
            history.append(loss.item())
            if step % 10 == 9:
                print(f"[{step + 1:3d}] mse={np.mean(history[-10:]):.6f}")
        return history


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    Trainer(Forecaster(cfg.hidden), cfg).fit()
