import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class EarlyExitNet(nn.Module):
    """Three blocks, each with its own classifier."""

    def __init__(self, width=40):
        super().__init__()
        self.stem = nn.Linear(64, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.exits = nn.ModuleList(nn.Linear(width, 10) for _ in range(3))

    def forward(self, x):
        h = F.relu(self.stem(x))
        outputs = []
        for block, exit_layer in zip(self.blocks, self.exits):
            h = h + F.relu(block(h))
            outputs.append(exit_layer(h))
        return outputs


class Trainer:
    weights = (0.3, 0.3, 0.4)

    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def compute_loss(self, outputs, y):
        loss = 0.0
        for weight, logits in zip(self.weights, outputs):
            loss = loss + weight * F.cross_entropy(logits, y)
        return loss

    def train_epoch(self, x, y):
        self.model.train()
        for idx in torch.randperm(len(x)).split(64):
            loss = self.compute_loss(self.model(x[idx]), y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        return [(logits.argmax(1) == y).float().mean().item() for logits in self.model(x)]


if __name__ == "__main__":
    torch.manual_seed(3)
    x, y = load_digits(return_X_y=True)
    parts = train_test_split(x / 16, y, test_size=0.25, random_state=3)
    x_train, x_test = (torch.tensor(p, dtype=torch.float32) for p in parts[:2])
    y_train, y_test = (torch.tensor(p) for p in parts[2:])
    trainer = Trainer(EarlyExitNet(), 2e-3)
    for epoch in range(10):
        loss = trainer.train_epoch(x_train, y_train)
        if epoch % 3 == 0:
            print(epoch, round(loss, 3), ["%.3f" % a for a in trainer.evaluate(x_test, y_test)])
