"""The classic first example: a sum-reduced test loss, and predictions compared as a column."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])
train_loader, test_loader = DataLoader(train_set, 32, shuffle=True), DataLoader(test_set, 25)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3), nn.LogSoftmax(1))
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)


def train(epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 4 == 0:
            seen, whole = batch_idx * len(data), len(train_loader.dataset)
            share = 100.0 * batch_idx / len(train_loader)
            print(f"Train Epoch: {epoch} [{seen}/{whole} ({share:.0f}%)]\tLoss: {loss.item():.6f}")


def test():
    model.eval()
    test_loss = correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    test_loss /= len(test_loader.dataset)
    whole = len(test_loader.dataset)
    print(f"\nTest set: Average loss: {test_loss:.4f}, Accuracy: {correct}/{whole} ({100.0 * correct / whole:.0f}%)\n")


for epoch in range(1, 4):
    train(epoch)
    test()
