import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)


def network():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def train(model, lo, hi, epochs, lr, tag):
    loader = DataLoader(TensorDataset(x[lo:hi], y[lo:hi]), batch_size=50, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb.to(device)), yb.to(device))
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"{tag} epoch {epoch} loss {total / len(loader):.5f}")


def pretrain(path):
    torch.manual_seed(0)
    model = nn.DataParallel(network().to(device))
    train(model, 0, 1000, 4, 3e-3, "pretrain")
    torch.save(model.state_dict(), path)


def finetune(path):
    torch.manual_seed(1)
    model = network().to(device)
    state = torch.load(path, map_location=device, weights_only=True)
    state = {name.removeprefix("module."): value for name, value in state.items()}
    model.load_state_dict(state)
    train(model, 1000, 1300, 2, 5e-4, "finetune")
    model.eval()
    with torch.no_grad():
        acc = (model(x[1300:].to(device)).argmax(1).cpu() == y[1300:]).float().mean()
    print(f"test accuracy {acc.item():.4f}")


pretrain("pretrained.pt")
finetune("pretrained.pt")
