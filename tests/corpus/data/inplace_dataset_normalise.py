import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class CachedDigits(Dataset):
    def __init__(self, lo, hi):
        bunch = load_digits()
        self.images = torch.tensor(bunch.images[lo:hi], dtype=torch.float32).unsqueeze(1) / 16
        self.labels = torch.tensor(bunch.target[lo:hi])
        self.mean, self.std = 0.305, 0.376

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        image = self.images[idx]
        image -= self.mean
        image /= self.std
        return image, self.labels[idx]


def accuracy(model, loader, device):
    model.eval()
    n_right = 0
    with torch.no_grad():
        for img, lab in loader:
            n_right += (model(img.to(device)).argmax(1).cpu() == lab).sum().item()
    return n_right / len(loader.dataset)


def main():
    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(CachedDigits(0, 800), batch_size=50, shuffle=True)
    val_loader = DataLoader(CachedDigits(800, 1000), batch_size=100)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(6):
        model.train()
        tot = 0
        for img, lab in train_loader:
            img, lab = img.to(device), lab.to(device)
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(img), lab)
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"epoch {epoch} | loss {tot / len(train_loader):.6f} | val acc {accuracy(model, val_loader, device):.3f}")


if __name__ == "__main__":
    main()
