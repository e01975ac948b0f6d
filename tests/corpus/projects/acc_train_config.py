"""Trains a small CNN with Accelerate from a config."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainingConfig:
    train_batch_size: int = 64
    num_epochs: int = 4
    learning_rate: float = 3e-3
    lr_warmup_steps: int = 20
    seed: int = 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 16, 10)

    def forward(self, x):
        return self.fc(F.max_pool2d(F.relu(self.conv(x)), 2).flatten(1))


def make_loader(config):
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    return DataLoader(TensorDataset(images, torch.tensor(data.target)), config.train_batch_size, shuffle=True)


def train_loop(config, model, optimizer, loader, scheduler):
    accelerator = Accelerator(cpu=True)
    model, loader, optimizer, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(config.num_epochs):
        total, count = 0.0, 0
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total, count = total + loss.item(), count + 1
        accelerator.print(f"epoch {epoch} loss {total / count:.4f}")


def main():
    config = TrainingConfig()
    set_seed(config.seed)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
    warmup = lambda step: min(1.0, (step + 1) / config.lr_warmup_steps)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup)
    train_loop(config, model, optimizer, make_loader(config), scheduler)


main()
