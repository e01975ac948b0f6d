import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(28)


def claims(n):
    x = torch.randn(n, 9)
    fraud = ((x[:, 0] + x[:, 1] * x[:, 2]) > 1.6).float()
    amount = torch.exp(0.5 * torch.randn(n))
    return x, fraud, amount


class ClaimNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class WeightedTrainer:
    def __init__(self, model, lr=5e-3):
        self.model = model
        self.criterion = nn.BCEWithLogitsLoss(reduction="none")
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_step(self, x, fraud, amount):
        self.optimizer.zero_grad()
        per_claim = self.criterion(self.model(x), fraud)
        loss = per_claim * amount
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            losses = [self.train_step(*batch) for batch in loader]
            print(f"epoch {epoch} weighted loss {sum(losses) / len(losses):.4f}")


trainer = WeightedTrainer(ClaimNet())
trainer.fit(DataLoader(TensorDataset(*claims(1000)), batch_size=50, shuffle=True), 6)
x, fraud, amount = claims(500)
with torch.no_grad():
    flagged = trainer.model(x) > 0
print(f"amount-weighted accuracy {((flagged == fraud.bool()).float() * amount).sum() / amount.sum():.3f}")
