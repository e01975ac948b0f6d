import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

QUERY, ROUNDS = 30, 5


def make_model():
    return nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))


def fit(model, x, y, steps=80):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model.train()
    for _ in range(steps):
        rows = torch.randint(0, len(x), (32,))
        optimizer.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()


@torch.no_grad()
def query(model, x, labelled):
    model.eval()
    pool = (~labelled).nonzero().squeeze(1)
    probabilities = model(x[pool]).softmax(dim=1)
    entropy = -(probabilities * probabilities.clamp(min=1e-9).log()).sum(dim=1)
    chosen = entropy.topk(QUERY).indices
    labelled[chosen] = True


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(80)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    train_x, train_y, test_x, test_y = x[:1300], y[:1300], x[1300:], y[1300:]
    labelled = torch.zeros(len(train_x), dtype=torch.bool)
    labelled[torch.randperm(len(train_x))[:QUERY]] = True
    for round_number in range(ROUNDS):
        model = make_model()
        fit(model, train_x[labelled], train_y[labelled])
        print(f"round {round_number}: {int(labelled.sum())} labels, accuracy {accuracy(model, test_x, test_y):.3f}")
        query(model, train_x, labelled)


if __name__ == "__main__":
    main()
