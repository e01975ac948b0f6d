import torch
from torch import nn


def whitening_matrix(x, eps=1e-3):
    """ZCA: rows of the result turn centred data into uncorrelated data."""
    cov = x.t() @ x / (len(x) - 1)
    values, vectors = torch.symeig(cov, eigenvectors=True)
    return vectors @ torch.diag((values + eps).rsqrt()) @ vectors.t()


def correlated(n, d, gen):
    mix = torch.randn(d, d, generator=gen) / d ** 0.5 + torch.eye(d)
    raw = torch.randn(n, d, generator=gen)
    label = (raw[:, 0] * raw[:, 1] > 0).long()
    return raw @ mix, label


def main(epochs=10):
    gen = torch.Generator().manual_seed(2)
    torch.manual_seed(2)
    x, y = correlated(640, 6, gen)
    x_train, y_train, x_test, y_test = x[:512], y[:512], x[512:], y[512:]
    mean = x_train.mean(0)
    W = whitening_matrix(x_train - mean)
    x_train, x_test = (x_train - mean) @ W, (x_test - mean) @ W

    net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(epochs):
        for idx in torch.randperm(512).split(64):
            loss = nn.functional.cross_entropy(net(x_train[idx]), y_train[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            test = nn.functional.cross_entropy(net(x_test), y_test).item()
        print(f"epoch {epoch} test loss {test:.6f}")


if __name__ == "__main__":
    main()
