"""Forward-only scoring of a fixed random-feature model; the read-out is solved in closed form."""
import argparse
import time

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class RandomFeatures(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.proj = nn.Linear(d_in, width)
        nn.init.normal_(self.proj.weight, std=1.0)
        nn.init.uniform_(self.proj.bias, -1, 1)

    def forward(self, x):
        return torch.cos(self.proj(x))


@torch.inference_mode()
def extract(model, loader):
    model.eval()
    feats, labels = [], []
    for x, y in loader:
        feats.append(model(x))
        labels.append(y)
    return torch.cat(feats), torch.cat(labels)


@torch.inference_mode()
def ridge(features, labels, lam):
    targets = nn.functional.one_hot(labels).float()
    gram = features.T @ features + lam * torch.eye(features.shape[1])
    return torch.linalg.solve(gram, features.T @ targets)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=300)
    ap.add_argument("--lam", type=float, default=1.0)
    args = ap.parse_args()
    torch.manual_seed(0)
    d = load_digits()
    X, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
    train = DataLoader(TensorDataset(X[:1300], y[:1300]), batch_size=100, shuffle=False)
    test = DataLoader(TensorDataset(X[1300:], y[1300:]), batch_size=100, shuffle=False)
    model = RandomFeatures(64, args.width)
    t0 = time.perf_counter()
    F_tr, y_tr = extract(model, train)
    W = ridge(F_tr, y_tr, args.lam)
    F_te, y_te = extract(model, test)
    pred = (F_te @ W).argmax(1)
    print(f"scored {len(y_te)} samples in {time.perf_counter() - t0:.3f}s")
    print(f"accuracy {(pred == y_te).float().mean():.4f}")


main()
