import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons


class SnapshotTrainer:
    """Cyclic learning rate; the weights at the end of each cycle form an ensemble."""

    def __init__(self, model, max_lr=0.4, cycle=30):
        self.model, self.max_lr, self.cycle = model, max_lr, cycle
        self.optimizer = torch.optim.SGD(model.parameters(), lr=max_lr, momentum=0.9)
        self.snapshots = []

    def adjust(self, step):
        position = (step % self.cycle) / self.cycle
        for group in self.optimizer.param_groups:
            group["lr"] = self.max_lr * (1 - position) + 1e-3

    def keep(self):
        self.snapshots.append([p.detach().clone() for p in self.model.parameters()])

    def fit(self, x, y, cycles):
        self.model.train()
        for step in range(cycles * self.cycle):
            self.adjust(step)
            idx = torch.randint(len(x), (48,))
            loss = F.cross_entropy(self.model(x[idx]), y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if (step + 1) % self.cycle == 0:
                self.keep()
                print(f"snapshot {len(self.snapshots)} loss {loss.item():.3f}")

    @torch.no_grad()
    def predict(self, x):
        self.model.eval()
        outputs = []
        for snapshot in self.snapshots:
            for p, saved in zip(self.model.parameters(), snapshot):
                p.copy_(saved)
            outputs.append(F.softmax(self.model(x), dim=1))
        return torch.stack(outputs)


def main():
    torch.manual_seed(0)
    x, y = make_moons(500, noise=0.3, random_state=0)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    trainer = SnapshotTrainer(model)
    trainer.fit(x[:200], y[:200], cycles=5)
    outputs = trainer.predict(x[200:])
    spread = outputs.std(dim=0).mean().item()
    nll = F.nll_loss(outputs.mean(dim=0).log(), y[200:]).item()
    print(f"ensemble of {len(outputs)}: nll {nll:.3f}, disagreement {spread:.4f}")


if __name__ == "__main__":
    main()
