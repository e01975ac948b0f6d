import os
import tempfile

import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split


def mlp():
    return nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))


class Trainer:
    """Minimal trainer that owns the network."""

    def __init__(self):
        self.net = mlp()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def fit(self, X, y, epochs):
        for e in range(epochs):
            loss = nn.functional.cross_entropy(self.net(X), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if e % 20 == 0:
                print(f"epoch {e:2d} loss {loss.item():.4f}")

    def save(self, path):
        state = {f"net.{k}": v for k, v in self.net.state_dict().items()}
        torch.save({"state_dict": state}, path)


def load_for_inference(path):
    net = mlp()
    checkpoint = torch.load(path, map_location="cpu")
    net.load_state_dict(checkpoint["state_dict"], strict=False)
    net.eval()
    return net


def accuracy(net, X, y):
    with torch.no_grad():
        return (net(X).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(3)
    X, y = load_wine(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=3)
    m, s = X_tr.mean(0), X_tr.std(0)
    X_tr, X_te = torch.tensor((X_tr - m) / s).float(), torch.tensor((X_te - m) / s).float()
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    trainer = Trainer()
    trainer.fit(X_tr, y_tr, 80)
    print("accuracy at the end of training", accuracy(trainer.net, X_te, y_te))
    path = os.path.join(tempfile.gettempdir(), "wine_deploy.pt")
    trainer.save(path)
    net = load_for_inference(path)
    print("accuracy of the deployed model  ", accuracy(net, X_te, y_te))
    os.remove(path)


if __name__ == "__main__":
    main()
