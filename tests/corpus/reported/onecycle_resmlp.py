import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits


class ResidualMlp(nn.Module):
    def __init__(self, width=64, depth=3):
        super().__init__()
        self.stem = nn.Linear(64, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(depth)
        )
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


def main():
    torch.manual_seed(7)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=70, shuffle=True)
    model = ResidualMlp()
    epochs, max_lr = 6, 0.05
    optimizer = torch.optim.SGD(model.parameters(), lr=max_lr, momentum=0.9)
    scheduler = OneCycleLR(optimizer, max_lr=max_lr, total_steps=epochs * len(loader), div_factor=100)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            acc = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        lr = scheduler.get_last_lr()[0]
        print(f"epoch {epoch}: loss {total / len(loader):.3f} acc {acc:.3f} lr {lr:.5f}")


if __name__ == "__main__":
    main()
