import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

NOTES = {"A": 4.0, "C": 5.0, "E": 6.5, "G": 8.0}


class NoteFolder(Dataset):
    """Short recordings, one folder a note, walked in the order of the folders."""

    def __init__(self, per_class, seed):
        gen = torch.Generator().manual_seed(seed)
        self.items = []
        t = torch.linspace(0, 1, 64)
        for label, freq in enumerate(NOTES.values()):
            for _ in range(per_class):
                phase = 2 * math.pi * torch.rand(1, generator=gen)
                wave = torch.sin(2 * math.pi * freq * t + phase)
                self.items.append((wave + 0.2 * torch.randn(64, generator=gen), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        wave, label = self.items[i]
        return wave.unsqueeze(0), label


class NoteNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 12, 9, padding=4), nn.ReLU(), nn.MaxPool1d(4),
                                      nn.Conv1d(12, 24, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4))
        self.head = nn.Linear(96, len(NOTES))

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(0)

    train_ds, test_ds = NoteFolder(80, seed=1), NoteFolder(20, seed=2)
    train_dl = DataLoader(train_ds, args.batch_size, sampler=RandomSampler(train_ds))
    test_dl = DataLoader(test_ds, 80)
    model = NoteNet()
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for wave, label in train_dl:
            loss = nn.functional.cross_entropy(model(wave), label)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.inference_mode():
            correct = sum((model(w).argmax(-1) == l).sum().item() for w, l in test_dl)
        print(f"[{epoch}/{args.epochs}] last loss={loss.item():.6f} test={100 * correct / len(test_ds):.1f}%")


if __name__ == "__main__":
    main()
