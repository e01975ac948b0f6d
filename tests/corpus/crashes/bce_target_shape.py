import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler


def load():
    x, y = load_breast_cancer(return_X_y=True)
    x = StandardScaler().fit_transform(x)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


def build():
    return nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())


def main():
    torch.manual_seed(0)
    x, y = load()
    model = build()
    criterion = nn.BCELoss()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        for rows in torch.randperm(len(x)).split(64):
            prob = model(x[rows])
            loss = criterion(prob, y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())


main()
