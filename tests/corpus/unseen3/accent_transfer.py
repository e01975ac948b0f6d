import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)


def formants(n, n_accents, shift):
    centers = torch.randn(n_accents, 20, generator=torch.Generator().manual_seed(shift)) * 1.2
    y = torch.randint(0, n_accents, (n,))
    return TensorDataset(centers[y] + torch.randn(n, 20), y)


class AccentNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.classifier = nn.Linear(32, n_out)

    def forward(self, x):
        return self.classifier(self.features(x))


def fit(model, opt, loader, epochs, tag):
    for e in range(epochs):
        tot = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"[{tag}] epoch {e} loss {tot / len(loader):.4f}")


net = AccentNet(4)
source = DataLoader(formants(600, 4, 1), batch_size=32, shuffle=True)
fit(net, torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9), source, 3, "pretrain")

for p in net.features.parameters():
    p.requires_grad = False

optimizer = torch.optim.SGD(net.classifier.parameters(), lr=0.05, momentum=0.9)
net.classifier = nn.Linear(32, 7)
dataset = formants(900, 7, 2)
train_part, test_part = torch.utils.data.random_split(dataset, [700, 200])
fit(net, optimizer, DataLoader(train_part, batch_size=32, shuffle=True), 8, "transfer")

net.eval()
correct = 0
with torch.no_grad():
    for xb, yb in DataLoader(test_part, batch_size=100):
        correct += (net(xb).argmax(1) == yb).sum().item()
print(f"transfer accuracy {correct / len(test_part):.3f}")
