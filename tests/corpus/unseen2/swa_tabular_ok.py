import torch
import torch.nn as nn
from sklearn.datasets import make_friedman3
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset


def make_loaders():
    X, y = make_friedman3(1600, noise=0.1, random_state=19)
    mu, sd = X[:1200].mean(0), X[:1200].std(0)
    X = torch.tensor((X - mu) / sd, dtype=torch.float32)
    y = torch.tensor((y - y[:1200].mean()) / y[:1200].std(), dtype=torch.float32)
    return (DataLoader(TensorDataset(X[:1200], y[:1200]), batch_size=60, shuffle=True),
            DataLoader(TensorDataset(X[1200:], y[1200:]), batch_size=200))


def evaluate(model, loader):
    model.eval()
    se = n = 0
    with torch.no_grad():
        for x, y in loader:
            se += (model(x).squeeze(1) - y).square().sum().item()
            n += len(y)
    return se / n


def main(epochs=24, swa_start=14):
    torch.manual_seed(19)
    train, test = make_loaders()
    model = nn.Sequential(nn.Linear(4, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 1))
    averaged = AveragedModel(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=swa_start)
    swa_sched = SWALR(opt, swa_lr=0.02, anneal_epochs=2)
    for epoch in range(epochs):
        model.train()
        for x, y in train:
            opt.zero_grad()
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            opt.step()
        if epoch >= swa_start:
            averaged.update_parameters(model)
            swa_sched.step()
        else:
            cosine.step()
        if epoch % 6 == 5:
            print(f"epoch {epoch + 1} lr {opt.param_groups[0]['lr']:.4f} test {evaluate(model, test):.4f}")
    update_bn(train, averaged)
    print(f"last {evaluate(model, test):.4f} averaged {evaluate(averaged, test):.4f}")


if __name__ == "__main__":
    main()
