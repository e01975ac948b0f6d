import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class ResNetMLP(nn.Module):
    def __init__(self, n_in, width=24, depth=2):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.blocks = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x))).squeeze(-1)


torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, random_state=0)
mu, sigma = X_train.mean(axis=0), X_train.std(axis=0)
X_train = torch.tensor((X_train - mu) / sigma, dtype=torch.float32)
X_val = torch.tensor((X_val - mu) / sigma, dtype=torch.float32)
y_train = torch.tensor(y_train, dtype=torch.float32)
y_val = torch.tensor(y_val, dtype=torch.float32)

model = ResNetMLP(X_train.shape[1])
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(6):
    model.train()
    total = 0.0
    parts = torch.randperm(len(X_train)).split(43)
    for idx in parts:
        loss = loss_fn(model(X_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        val = loss_fn(model(X_val), y_val).item()
    print(f"epoch {epoch} train {total / len(parts):.6f} val {val:.6f}")
