"""Wine with a small network; features are selected and scaled before training."""
import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


def add_noise_columns(x, count, seed):
    noise = np.random.default_rng(seed).normal(size=(len(x), count))
    return np.hstack([x, noise])


def prepare(seed):
    x, y = load_wine(return_X_y=True)
    x = add_noise_columns(x, 40, seed)
    scaler, selector = StandardScaler(), SelectKBest(f_classif, k=12)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y)
    x_train = selector.fit_transform(scaler.fit_transform(x_train), y_train)
    x_test = selector.transform(scaler.transform(x_test))
    return [torch.as_tensor(part) for part in (x_train.astype("float32"), x_test.astype("float32"), y_train, y_test)]


def make_model(features):
    return nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))


def train(model, x, y, epochs=60, batch=16):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_fn = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = loss_fn(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        if epoch % 20 == 19:
            print(f"epoch {epoch} loss {total / len(x):.4f}")


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(1)
    x_train, x_test, y_train, y_test = prepare(seed=1)
    net = make_model(x_train.shape[1])
    train(net, x_train, y_train)
    print(f"train {accuracy(net, x_train, y_train):.4f} test {accuracy(net, x_test, y_test):.4f}")
