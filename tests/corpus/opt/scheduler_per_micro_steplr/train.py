import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

from config import Config
from net import DigitNet


def train_one_epoch(model, loader, optimizer, scheduler):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main(cfg):
    torch.manual_seed(cfg.seed)
    d = load_digits()
    full = TensorDataset(torch.tensor(d.images / 16.0).float().unsqueeze(1)[:480], torch.tensor(d.target)[:480])
    train_set, val_set = random_split(full, [384, 96])
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=96)
    model = DigitNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=cfg.lr_step, gamma=cfg.lr_gamma)
    for epoch in range(cfg.epochs):
        loss = train_one_epoch(model, train_loader, optimizer, scheduler)
        print(f"{epoch:2d} loss={loss:.5f} val_acc={accuracy(model, val_loader):.4f}")


if __name__ == "__main__":
    main(Config())
