import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


def make_points(n):
    centers = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
    kind = torch.randint(0, 3, (n,))
    pts = centers[kind] + 0.6 * torch.randn(n, 2)
    known = torch.rand(n) < 0.7
    return pts, torch.where(known, kind, torch.tensor(-1))


def train_epoch(net, loader, optimizer):
    net.train()
    total, count = 0.0, 0
    for pts, kind in loader:
        pts, kind = pts.to(device), kind.to(device)
        logits = net(pts)
        loss = F.cross_entropy(logits, kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        n = int((kind >= 0).sum())
        total += loss.item() * n
        count += n
    return total / count


def main():
    torch.manual_seed(60)
    loader = DataLoader(TensorDataset(*make_points(400)), batch_size=40, shuffle=True)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for epoch in range(7):
        print(f"epoch {epoch} nll {train_epoch(net, loader, optimizer):.6f}")


if __name__ == "__main__":
    main()
