import torch
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Patients(Dataset):
    def __init__(self, x, y):
        self.x = torch.from_numpy(x)
        self.y = torch.from_numpy(y).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Regressor(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


def main():
    torch.manual_seed(9)
    x, y = load_diabetes(return_X_y=True, scaled=False)
    split = 350
    mean, std = x[:split].mean(axis=0), x[:split].std(axis=0)
    y_mean, y_std = y[:split].mean(), y[:split].std()
    x, y = (x - mean) / std, (y - y_mean) / y_std
    train_loader = DataLoader(Patients(x[:split], y[:split]), batch_size=35, shuffle=True)
    val_loader = DataLoader(Patients(x[split:], y[split:]), batch_size=92)
    model = Regressor(x.shape[1])
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    for epoch in range(10):
        model.train()
        for features, target in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(features), target)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val = sum(criterion(model(f), t).item() for f, t in val_loader) / len(val_loader)
        print(f"{epoch:2d} {val:.4f}")


if __name__ == "__main__":
    main()
