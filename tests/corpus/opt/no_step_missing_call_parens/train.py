import torch
from torch.utils.data import DataLoader, TensorDataset

from data import stripes
from engine import run_epoch
from model import TinyCNN


def main():
    torch.manual_seed(0)
    train_loader = DataLoader(TensorDataset(*stripes(384, seed=1)), batch_size=32, shuffle=True)
    val_loader = DataLoader(TensorDataset(*stripes(96, seed=2)), batch_size=96)
    model = TinyCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        train_loss, train_acc = run_epoch(model, train_loader, optimizer)
        val_loss, val_acc = run_epoch(model, val_loader)
        print(f"{epoch}: train {train_loss:.5f} ({train_acc:.3f})  val {val_loss:.5f} ({val_acc:.3f})")


if __name__ == "__main__":
    main()
