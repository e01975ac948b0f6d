import torch
from sklearn.datasets import load_diabetes
from torch import nn

CONFIG = {"hidden": [32, 16], "dropout": 0.1, "lr": 5e-3, "epochs": 15, "batch": 34}


def build(inputs, hidden, dropout):
    layers = []
    for width in hidden:
        layers += [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout)]
        inputs = width
    layers.append(nn.Linear(inputs, 1))
    return nn.Sequential(*layers)


def standardise(values, rows):
    return (values - values[:rows].mean(0)) / values[:rows].std(0)


def main(config):
    torch.manual_seed(53)
    x, y = load_diabetes(return_X_y=True)
    x = standardise(torch.tensor(x, dtype=torch.float32), 340)
    y = standardise(torch.tensor(y, dtype=torch.float32).unsqueeze(1), 340)
    model = build(x.shape[1], config["hidden"], config["dropout"])
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
    criterion = nn.HuberLoss()
    for epoch in range(config["epochs"]):
        model.train()
        for rows in torch.randperm(340).split(config["batch"]):
            optimizer.zero_grad()
            loss = criterion(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            model.eval()
            with torch.no_grad():
                print(epoch + 1, criterion(model(x[340:]), y[340:]).item())


if __name__ == "__main__":
    main(CONFIG)
