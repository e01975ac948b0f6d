"""Step based training instead of epochs."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class StepTrainer:
    def __init__(self, model, loader, lr=2e-3):
        self.model = model
        self.loader = loader
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()
        self.iterator = iter(loader)

    def next_batch(self):
        try:
            return next(self.iterator)
        except StopIteration:
            self.iterator = iter(self.loader)
            return next(self.iterator)

    def train(self, steps, report_every, evaluate):
        self.model.train()
        for step in range(1, steps + 1):
            x, y = self.next_batch()
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if step % report_every == 0:
                print(f"step {step} loss {loss.item():.4f} held-out accuracy {evaluate(self.model):.3f}")


def main():
    torch.manual_seed(6)
    x, y = load_digits(return_X_y=True)
    order = torch.randperm(len(x))
    x = (torch.tensor(x, dtype=torch.float32) / 16)[order]
    y = torch.tensor(y)[order]
    # the rows are already in random order
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=56)

    def evaluate(model):
        model.eval()
        with torch.no_grad():
            acc = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        model.train()
        return acc

    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    StepTrainer(model, loader).train(300, 75, evaluate)


if __name__ == "__main__":
    main()
