import math
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def friedman(n, gen):
    x = torch.rand(n, 5, generator=gen)
    y = 10 * torch.sin(math.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x * 2 - 1, (y.unsqueeze(1) - 14.4) / 4.9


def train_epoch(model, loader, opt, loss_fn, device):
    model.train()
    total = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = loss_fn(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model, loader, loss_fn, device):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += loss_fn(model(x), y).item() * len(x)
    return total / len(loader.dataset)


def main():
    torch.manual_seed(31)
    gen = torch.Generator().manual_seed(31)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("training on", device)
    train_loader = DataLoader(TensorDataset(*friedman(480, gen)), batch_size=48, shuffle=True)
    val_loader = DataLoader(TensorDataset(*friedman(160, gen)), batch_size=80)
    model = nn.Sequential(nn.Linear(5, 40), nn.ReLU(), nn.Dropout(0.05), nn.Linear(40, 1)).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=2)
    loss_fn = nn.MSELoss()
    for epoch in range(8):
        tr = train_epoch(model, train_loader, opt, loss_fn, device)
        va = validate(model, val_loader, loss_fn, device)
        sched.step(va)
        print(f"epoch {epoch} train {tr:.6f} val {va:.6f}")


if __name__ == "__main__":
    main()
