"""A classifier with Accelerate whose evaluation gathers predictions."""
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Accuracy:
    def __init__(self):
        self.reset()

    def reset(self):
        self.hits = self.total = 0

    def add_batch(self, predictions, references):
        self.hits += (predictions == references).sum().item()
        self.total += references.numel()

    def compute(self):
        return self.hits / self.total


def make_loaders():
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=40, shuffle=True)
    return train, DataLoader(TensorDataset(x[1400:], y[1400:]), batch_size=10, drop_last=True)


def evaluate(accelerator, model, loader, metric):
    model.eval()
    metric.reset()
    for x, y in loader:
        with torch.no_grad():
            logits = model(x)
        predictions = logits.argmax(dim=0)
        metric.add_batch(*accelerator.gather_for_metrics((predictions, y)))
    return metric.compute()


def main(epochs=5):
    set_seed(9)
    accelerator = Accelerator(cpu=True)
    train, val = make_loaders()
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model, optimizer, train, val = accelerator.prepare(model, optimizer, train, val)
    criterion, metric = nn.CrossEntropyLoss(), Accuracy()
    for epoch in range(epochs):
        model.train()
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
        score = evaluate(accelerator, model, val, metric)
        accelerator.print(f"epoch {epoch} loss {loss.item():.4f} accuracy {score:.4f}")


if __name__ == "__main__":
    main()
