import argparse

import torch
import torch.nn as nn
from sklearn.datasets import make_regression
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    parser = argparse.ArgumentParser(description="Overparametrised regression")
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--weight-decay", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def get_data(seed):
    x, y = make_regression(300, 40, n_informative=5, noise=40.0, random_state=seed)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    y = (y - y[:120].mean()) / y[:120].std()
    return TensorDataset(x[:120], y[:120]), TensorDataset(x[120:], y[120:])


def loss_on(model, dataset):
    model.eval()
    x, y = dataset.tensors
    with torch.no_grad():
        return nn.functional.mse_loss(model(x).squeeze(1), y).item()


def main():
    args = get_args()
    print("settings:", ", ".join(f"{k}={v}" for k, v in vars(args).items()))
    torch.manual_seed(args.seed)
    train_set, test_set = get_data(args.seed)
    loader = DataLoader(train_set, batch_size=24, shuffle=True)
    model = nn.Sequential(nn.Linear(40, args.width), nn.ReLU(), nn.Linear(args.width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    for epoch in range(args.epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
        if epoch % 20 == 19:
            print(f"epoch {epoch + 1}: train {loss_on(model, train_set):.3f} test {loss_on(model, test_set):.3f}")


if __name__ == "__main__":
    main()
