"""Mixed precision with gradient accumulation and clipping."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_loader():
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32) / 16
    return DataLoader(TensorDataset(x[:1792], torch.tensor(y)[:1792]), batch_size=32, shuffle=True)


def main():
    torch.manual_seed(52)
    loader = make_loader()
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    scaler = torch.amp.GradScaler(DEVICE)
    for epoch in range(3):
        total = 0.0
        optimizer.zero_grad()
        for i, (x, y) in enumerate(loader, start=1):
            x, y = x.to(DEVICE), y.to(DEVICE)
            with torch.autocast(DEVICE, dtype=torch.float16):
                loss = criterion(model(x), y)
            scaler.scale(loss / ACCUMULATE).backward()
            scaler.unscale_(optimizer)
            if i % ACCUMULATE == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
