"""Federated averaging over clinics with non-standardised features."""
import copy

import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split


def make_model():
    return nn.Sequential(
        nn.BatchNorm1d(30), nn.Linear(30, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2),
    )


class Clinic:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def local_train(self, global_model, epochs=2, lr=0.05):
        model = copy.deepcopy(global_model)
        model.train()
        opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        for _ in range(epochs):
            for idx in torch.randperm(len(self.x)).split(24):
                if len(idx) < 2:
                    continue
                loss = nn.functional.cross_entropy(model(self.x[idx]), self.y[idx])
                opt.zero_grad()
                loss.backward()
                opt.step()
        return model, len(self.x)


@torch.no_grad()
def aggregate(global_model, results):
    total = sum(n for _, n in results)
    states = [(m.state_dict(), n / total) for m, n in results]
    for name, p in global_model.state_dict().items():
        p.copy_(sum(w * s[name] for s, w in states))


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main(rounds=8, n_clinics=4):
    torch.manual_seed(20)
    data = load_breast_cancer()
    x_tr, x_te, y_tr, y_te = train_test_split(data.data, data.target, test_size=0.3, random_state=20)
    x_tr, x_te = torch.tensor(x_tr, dtype=torch.float32), torch.tensor(x_te, dtype=torch.float32)
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    clinics = [Clinic(x_tr[i::n_clinics], y_tr[i::n_clinics]) for i in range(n_clinics)]
    server = make_model()
    for r in range(rounds):
        results = [c.local_train(server) for c in clinics]
        aggregate(server, results)
        local = sum(evaluate(m, x_te, y_te) for m, _ in results) / len(results)
        print(f"round {r} local acc {local:.3f} global acc {evaluate(server, x_te, y_te):.3f}")


if __name__ == "__main__":
    main()
