import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(64)
device = "cuda" if torch.cuda.is_available() else "cpu"


def make_data(n, n_classes):
    proto = torch.randn(n_classes, 10, generator=torch.Generator().manual_seed(1))
    y = torch.randint(0, n_classes, (n,))
    return proto[y] + 0.8 * torch.randn(n, 10), y


backbone = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU()).to(device)


def pretrain():
    x, y = make_data(480, 6)
    head = nn.Linear(32, 6).to(device)
    opt = torch.optim.Adam([*backbone.parameters(), *head.parameters()], lr=3e-3)
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True):
        loss = nn.functional.cross_entropy(head(backbone(xb.to(device))), yb.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"pretrain last loss {loss.item():.5f}")


def finetune(epochs=5):
    x, y = make_data(300, 3)
    head = nn.Linear(32, 3).to(device)
    opt = torch.optim.Adam(head.parameters(), lr=1e-2)
    backbone.eval()
    loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in loader:
            xb, yb = xb.to(device), yb.to(device)
            with torch.no_grad():
                feats = backbone(xb)
            loss = nn.functional.cross_entropy(head(feats), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"finetune {epoch} loss {total / len(loader):.6f}")


pretrain()
finetune()
