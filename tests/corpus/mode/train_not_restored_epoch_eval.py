import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
        return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    X, y = load_wine(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    sc = StandardScaler().fit(X_tr)
    X_tr, X_te = [torch.tensor(sc.transform(a), dtype=torch.float32) for a in (X_tr, X_te)]
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=31, shuffle=True)

    model = nn.Sequential(
        nn.Linear(13, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(32, 3),
    )
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    model.train()
    for epoch in range(10):
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
        test_loss, test_acc = evaluate(model, X_te, y_te)
        print(f"{epoch}\ttrain {loss.item():.5f}\ttest {test_loss:.5f}\tacc {test_acc:.3f}")


main()
