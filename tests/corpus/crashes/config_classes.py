import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

CONFIG = {
    "hidden": 64,
    "num_classes": 9,
    "lr": 1e-2,
    "batch_size": 128,
    "epochs": 4,
}


class Classifier(nn.Module):
    def __init__(self, hidden, num_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, num_classes)

    def forward(self, x):
        return self.head(self.body(x))


def main():
    torch.manual_seed(1)
    data, target = load_digits(return_X_y=True)
    data = torch.tensor(data / 16, dtype=torch.float32)
    target = torch.tensor(target)
    model = Classifier(CONFIG["hidden"], CONFIG["num_classes"])
    optimizer = torch.optim.Adam(model.parameters(), lr=CONFIG["lr"])
    for epoch in range(CONFIG["epochs"]):
        for rows in torch.randperm(len(data)).split(CONFIG["batch_size"]):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(data[rows]), target[rows])
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4))


if __name__ == "__main__":
    main()
