import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


def load():
    x, y = load_wine(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=7)
    scaler = StandardScaler().fit(x_train)
    x_train = torch.tensor(scaler.transform(x_train), dtype=torch.float32)
    x_test = torch.tensor(scaler.transform(x_test), dtype=torch.float32)
    y_train = F.one_hot(torch.tensor(y_train), num_classes=3)
    return x_train, x_test, y_train, torch.tensor(y_test)


def build(inputs, hidden, outputs):
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


def train(model, x, y, steps=150):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        order = torch.randperm(len(x))[:32]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[order]), y[order])
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step:3d} loss {loss.item():.3f}")


def main():
    torch.manual_seed(7)
    x_train, x_test, y_train, y_test = load()
    model = build(13, 24, 3)
    train(model, x_train, y_train)
    model.eval()
    with torch.no_grad():
        accuracy = (model(x_test).argmax(dim=1) == y_test).float().mean()
    print("test accuracy", accuracy.item())


if __name__ == "__main__":
    main()
