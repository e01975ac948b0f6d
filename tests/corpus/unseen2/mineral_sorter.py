import argparse

import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def get_args():
    ap = argparse.ArgumentParser(description="mineral type from spectra")
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--seed", type=int, default=3)
    return ap.parse_args()


class SpectraNet(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, n_out)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.softmax(self.fc3(x))


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    X, y = make_classification(2400, 30, n_informative=15, n_classes=8, n_clusters_per_class=1,
                               class_sep=1.5, random_state=args.seed)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=args.seed)
    sc = StandardScaler().fit(X_tr)
    X_tr, X_te = [torch.tensor(sc.transform(a), dtype=torch.float32) for a in (X_tr, X_te)]
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

    net = SpectraNet(30, args.hidden, 8)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        running = 0.0
        for idx in torch.randperm(len(X_tr)).split(60):
            optimizer.zero_grad()
            loss = criterion(net(X_tr[idx]), y_tr[idx])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        if epoch % 5 == 4:
            with torch.no_grad():
                acc = (net(X_te).argmax(1) == y_te).float().mean().item()
            print(f"epoch {epoch + 1}: loss {running / len(X_tr):.4f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
