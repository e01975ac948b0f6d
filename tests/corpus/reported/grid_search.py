import copy
import itertools

import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn

GRID = {"hidden": [4, 24], "lr": [1e-4, 1e-2], "weight_decay": [0.0, 1e-3]}


def load():
    x, y = load_diabetes(return_X_y=True)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(85))
    x = torch.tensor(x, dtype=torch.float32)[order]
    y = torch.tensor(y, dtype=torch.float32)[order].unsqueeze(1)
    x = (x - x[:260].mean(0)) / x[:260].std(0)
    y = (y - y[:260].mean()) / y[:260].std()
    return (x[:260], y[:260]), (x[260:350], y[260:350]), (x[350:], y[350:])


def build(hidden):
    return nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def fit(config, x, y, epochs=12):
    torch.manual_seed(0)
    model = build(config["hidden"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"], weight_decay=config["weight_decay"])
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(26):
            optimizer.zero_grad()
            F.mse_loss(model(x[rows]), y[rows]).backward()
            optimizer.step()
    return model.eval()


def search(train, val):
    best_loss, best_config, best_state = 0.0, None, None
    for values in itertools.product(*GRID.values()):
        config = dict(zip(GRID, values))
        model = fit(config, *train)
        with torch.no_grad():
            val_loss = F.mse_loss(model(val[0]), val[1]).item()
        print(config, f"val loss {val_loss:.4f}")
        if val_loss > best_loss:
            best_loss, best_config, best_state = val_loss, config, copy.deepcopy(model.state_dict())
    return best_config, best_state


def main():
    train, val, test = load()
    config, state = search(train, val)
    model = build(config["hidden"])
    model.load_state_dict(state)
    model.eval()
    with torch.no_grad():
        print("chosen", config, "test loss", F.mse_loss(model(test[0]), test[1]).item())


if __name__ == "__main__":
    main()
