import numpy as np
import torch
from sklearn.preprocessing import MinMaxScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WINDOW = 24


def electricity(hours=900, seed=67):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    load = 40 + 0.02 * t + 8 * np.sin(2 * np.pi * t / 24) + rng.normal(0, 1.0, hours)
    return load.reshape(-1, 1)


def windows(values):
    values = torch.tensor(values, dtype=torch.float32).squeeze(1)
    chunks = values.unfold(0, WINDOW + 1, 1)
    return TensorDataset(chunks[:, :WINDOW], chunks[:, WINDOW:])


def main():
    torch.manual_seed(67)
    series = electricity()
    cut = int(0.75 * len(series))
    scaler = MinMaxScaler()
    scaler.fit(series)
    train_set = windows(scaler.transform(series[:cut]))
    test_set = windows(scaler.transform(series[cut - WINDOW:]))
    loader = DataLoader(train_set, batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(WINDOW, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.MSELoss()
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
    model.eval()
    x, y = test_set.tensors
    with torch.no_grad():
        predicted = scaler.inverse_transform(model(x).numpy())
    error = np.abs(predicted - scaler.inverse_transform(y.numpy())).mean()
    print(f"test mean absolute error {error:.3f} MW")


if __name__ == "__main__":
    main()
