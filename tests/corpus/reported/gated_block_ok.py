import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        gate = gate * self.scale
        return x + gate * torch.tanh(self.value(x))


class Classifier(nn.Module):
    def __init__(self, inputs, width=24, depth=2):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(GatedBlock(width) for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).squeeze(1)


def main():
    torch.manual_seed(18)
    x, y = load_breast_cancer(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, random_state=18, stratify=y)
    scaler = StandardScaler().fit(x_train)
    x_train = torch.tensor(scaler.transform(x_train), dtype=torch.float32)
    x_test = torch.tensor(scaler.transform(x_test), dtype=torch.float32)
    y_train = torch.tensor(y_train, dtype=torch.float32)
    model = Classifier(x_train.size(1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(5):
        for rows in torch.randperm(len(x_train)).split(32):
            optimizer.zero_grad()
            loss = criterion(model(x_train[rows]), y_train[rows])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            hits = ((model(x_test) > 0).numpy() == y_test).mean()
        print(f"epoch {epoch} accuracy {hits:.3f}")


if __name__ == "__main__":
    main()
