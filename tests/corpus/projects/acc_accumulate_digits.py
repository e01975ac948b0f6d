"""Digits with Accelerate and accumulated gradients."""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_loaders(batch):
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train = DataLoader(TensorDataset(x[:1408], y[:1408]), batch_size=batch, shuffle=True)
    return train, DataLoader(TensorDataset(x[1408:], y[1408:]), batch_size=100)


def make_model():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))


def evaluate(accelerator, model, loader):
    model.eval()
    hits = total = 0
    for x, y in loader:
        with torch.no_grad():
            guess = model(x).argmax(1)
        guess, y = accelerator.gather_for_metrics((guess, y))
        hits += (guess == y).sum().item()
        total += len(y)
    return hits / total


def main(epochs=8):
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)
    train, val = make_loaders(16)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    model, train, val = accelerator.prepare(model, train, val)
    for epoch in range(epochs):
        model.train()
        for x, y in train:
            with accelerator.accumulate(model):
                loss = F.cross_entropy(model(x), y)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        scheduler.step()
        if epoch % 2 == 1:
            accelerator.print(f"epoch {epoch} loss {loss.item():.4f} val {evaluate(accelerator, model, val):.4f}")


if __name__ == "__main__":
    main()
