"""Fine-tune with a small learning rate in reduced precision."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def net():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def loop(model, x, y, lr, epochs, dtype=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=dtype or torch.bfloat16, enabled=dtype is not None):
                logits = model(x[idx])
            loss = F.cross_entropy(logits.float(), y[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    x = x.to(next(model.parameters()).dtype)
    return (model(x).argmax(dim=1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    x_train, y_train, x_test, y_test = x[:1300], y[:1300], x[1300:], y[1300:]
    model = net()
    loop(model, x_train, y_train, lr=0.1, epochs=3)
    print(f"before, upright digits {accuracy(model, x_test, y_test):.3f}")

    turned, turned_test = x_train.view(-1, 8, 8).flip(1).flatten(1), x_test.view(-1, 8, 8).flip(1).flatten(1)
    print(f"before, flipped digits {accuracy(model, turned_test, y_test):.3f}")
    loss = loop(model, turned, y_train, lr=0.003, epochs=20, dtype=torch.bfloat16)
    print(f"after, flipped digits {accuracy(model, turned_test, y_test):.3f} (loss {loss:.3f})")


if __name__ == "__main__":
    main()
