import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.alpha = torch.tensor(alpha)
        self.gamma = gamma

    def forward(self, logits, target):
        logp = F.log_softmax(logits, dim=1).gather(1, target.unsqueeze(1)).squeeze(1)
        p = logp.exp()
        weight = self.alpha[target]
        return -(weight * (1 - p) ** self.gamma * logp).mean()


class FraudNet(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, 32),
            nn.BatchNorm1d(32),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Linear(32, 2),
        )

    def forward(self, x):
        return self.layers(x)


def make_transactions(n):
    x = torch.randn(n, 8)
    fraud = (x[:, 0] * x[:, 1] + x[:, 2] > 1.6).long()
    return x, fraud


def recall(model, x, y, device):
    model.eval()
    with torch.no_grad():
        hit = model(x.to(device)).argmax(1).cpu()
    return ((hit == 1) & (y == 1)).sum().item() / max(1, int((y == 1).sum()))


if __name__ == "__main__":
    torch.manual_seed(21)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x, y = make_transactions(800)
    vx, vy = make_transactions(300)
    loader = DataLoader(TensorDataset(x, y), batch_size=80, shuffle=True)
    model = FraudNet(8).to(device)
    criterion = FocalLoss([0.25, 0.75]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for xb, yb in loader:
            xb, yb = xb.to(device), yb.to(device)
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} focal {total / len(loader):.6f} recall {recall(model, vx, vy, device):.4f}")
