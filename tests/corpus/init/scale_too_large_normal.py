import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32, device=device) / 16
y = torch.tensor(y, device=device)
X_train, y_train, X_test, y_test = X[:1400], y[:1400], X[1400:], y[1400:]


def make_mlp(sizes):
    layers = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        linear = nn.Linear(n_in, n_out)
        nn.init.normal_(linear.weight, mean=0.0, std=1.0)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


model = make_mlp([64, 128, 128, 10]).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(5):
    perm = torch.randperm(len(X_train), device=device)
    for rows in perm.split(70):
        opt.zero_grad()
        loss = loss_fn(model(X_train[rows]), y_train[rows])
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (model(X_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.5f} test acc {acc:.4f}")
