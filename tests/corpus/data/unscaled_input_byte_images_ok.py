import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ByteImages(Dataset):
    def __init__(self, images, targets, transform=None):
        self.images, self.targets, self.transform = images, targets, transform

    def __getitem__(self, index):
        img = self.images[index]
        if self.transform is not None:
            img = self.transform(img)
        return img, int(self.targets[index])

    def __len__(self):
        return len(self.targets)


def to_tensor(img):
    return torch.from_numpy(img).float().div(255).flatten()


def run_epoch(net, loader, loss_fn, opt=None):
    net.train(opt is not None)
    total, hits, n = 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for x, t in loader:
            z = net(x)
            loss = loss_fn(z, t)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(t)
            hits += (z.argmax(1) == t).sum().item()
            n += len(t)
    return total / n, hits / n


if __name__ == "__main__":
    torch.manual_seed(42)
    raw = load_digits()
    pictures = np.clip(raw.images * 16, 0, 255).astype(np.uint8)
    cut = 1200
    train = DataLoader(ByteImages(pictures[:cut], raw.target[:cut], to_tensor), batch_size=64, shuffle=True)
    valid = DataLoader(ByteImages(pictures[cut:], raw.target[cut:], to_tensor), batch_size=256)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(4):
        tl, ta = run_epoch(net, train, loss_fn, opt)
        vl, va = run_epoch(net, valid, loss_fn)
        print("epoch %d train %.5f (%.3f) valid %.5f (%.3f)" % (epoch, tl, ta, vl, va))
