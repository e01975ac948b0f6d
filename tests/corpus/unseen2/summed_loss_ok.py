import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split


def prepare():
    X, y = load_diabetes(return_X_y=True)
    a, b, c, d = train_test_split(X, y, test_size=0.2, random_state=5)
    mx, sx, my, sy = a.mean(0), a.std(0), c.mean(), c.std()
    f = lambda t: torch.tensor(t, dtype=torch.float32)
    return f((a - mx) / sx), f((b - mx) / sx), f((c - my) / sy), f((d - my) / sy), sy


def main():
    torch.manual_seed(5)
    X_tr, X_te, y_tr, y_te, sy = prepare()
    net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
    # summed loss; the learning rate is chosen for sums over 25 samples
    criterion = nn.MSELoss(reduction="sum")
    opt = torch.optim.SGD(net.parameters(), lr=2e-4, weight_decay=0.5)
    for epoch in range(60):
        total = 0.0
        for idx in torch.randperm(len(X_tr)).split(25):
            opt.zero_grad()
            loss = criterion(net(X_tr[idx]), y_tr[idx])
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 10 == 9:
            with torch.no_grad():
                sse = criterion(net(X_te), y_te).item()
            print(f"epoch {epoch + 1}: train mse {total / len(X_tr):.4f} test mse {sse / len(X_te):.4f}")
    with torch.no_grad():
        mae = (net(X_te) - y_te).abs().mean().item() * float(sy)
    print(f"test MAE in original units {mae:.1f}")


if __name__ == "__main__":
    main()
