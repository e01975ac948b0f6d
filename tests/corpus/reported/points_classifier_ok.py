import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


def make_points(n=600, dims=30):
    x = torch.randn(n, dims)
    logits = x[:, 0] * x[:, 1] + 0.5 * x[:, 2]
    y = (logits + 0.8 * torch.randn(n) > 0).long()
    return x, y


def take(x, y, part, ratio=0.7):
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    cut = int(len(x) * ratio)
    chosen = order[:cut] if part == "train" else order[cut:]
    return x[chosen], y[chosen]


class Classifier(nn.Module):
    def __init__(self, inputs, hidden=96):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.out(self.layers(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


x, y = make_points()
x_train, y_train = take(x, y, "train")
x_val, y_val = take(x, y, "val")
model = Classifier(x.size(1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(30):
    model.train()
    for idx in torch.randperm(len(x_train)).split(60):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: train {accuracy(model, x_train, y_train):.3f} val {accuracy(model, x_val, y_val):.3f}")
