import torch
from torch import nn

from prepare import load_standardised


def fit(net, x, y, epochs, batch_size, lr):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        losses = []
        for idx in torch.randperm(len(x)).split(batch_size):
            loss = nn.functional.mse_loss(net(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} mse {sum(losses) / len(losses):.6f}")


def main():
    torch.manual_seed(0)
    train_x, test_x, train_y, test_y = map(torch.from_numpy, load_standardised())
    net = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 1))
    fit(net, train_x, train_y, epochs=8, batch_size=44, lr=0.01)
    with torch.no_grad():
        test = nn.functional.mse_loss(net(test_x).squeeze(1), test_y).item()
    print(f"test mse {test:.6f}")


if __name__ == "__main__":
    main()
