import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification


def data(seed=3):
    x, y = make_classification(900, 40, n_informative=6, n_redundant=0, flip_y=0.15, random_state=seed)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    return (x[:300], y[:300]), (x[300:600], y[300:600]), (x[600:], y[600:])


def evaluate(model, part):
    x, y = part
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def train_model(model, train, val, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    best_loss = float("inf")
    best_weights = copy.deepcopy(model.state_dict())
    x, y = train
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(30):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        val_loss, val_acc = evaluate(model, val)
        if val_loss < best_loss:
            best_loss = val_loss
            best_weights = copy.deepcopy(model.state_dict())
            print(f"epoch {epoch}: new best validation loss {val_loss:.3f} (acc {val_acc:.3f})")
    model.load_state_dict(best_weights)
    return best_loss


def main():
    torch.manual_seed(3)
    train, val, test = data()
    model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 2))
    best = train_model(model, train, val, 30)
    print(f"best validation loss {best:.3f}, restored model {evaluate(model, val)[0]:.3f}")
    print("test loss %.3f accuracy %.3f" % evaluate(model, test))


if __name__ == "__main__":
    main()
