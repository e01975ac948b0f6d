import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class SmallNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.fc = nn.Linear(64, n_out)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def subset(classes):
    d = load_digits()
    keep = [i for i, t in enumerate(d.target) if t in classes]
    x = torch.tensor(d.images[keep] / 16.0).float().unsqueeze(1)
    y = torch.tensor([classes.index(t) for t in d.target[keep]])
    perm = torch.randperm(len(y))
    x, y = x[perm], y[perm]
    cut = int(0.75 * len(y))
    return TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut:], y[cut:])


def run_epochs(model, opt, ds, n):
    loader = DataLoader(ds, batch_size=32, shuffle=True)
    for e in range(n):
        tot = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"   epoch {e}: {tot / len(loader):.4f}")


def accuracy(model, ds):
    x, y = ds.tensors
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(6)
base_train, base_test = subset([0, 1, 2, 3, 4])
new_train, new_test = subset([5, 6, 7, 8, 9])

model = SmallNet(5)
print("pretraining")
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
run_epochs(model, optimizer, base_train, 5)
print("base accuracy", accuracy(model, base_test))

print("fine-tuning")
for p in model.conv.parameters():
    p.requires_grad = False
model.fc = nn.Linear(64, 5)
optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-2)
run_epochs(model, optimizer, new_train, 6)
print("new-task accuracy", accuracy(model, new_test))
