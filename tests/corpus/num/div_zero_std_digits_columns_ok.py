import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn, optim

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X_tr, X_te, y_tr, y_te = (torch.tensor(a) for a in train_test_split(X[:900], y[:900], random_state=0))
X_tr, X_te = X_tr.float(), X_te.float()

mean, std = X_tr.mean(dim=0), X_tr.std(dim=0).clamp(min=1e-2)
X_tr = ((X_tr - mean) / std).clamp(-5, 5)
X_te = ((X_te - mean) / std).clamp(-5, 5)

model = nn.Sequential(
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Linear(32, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(5):
    perm = torch.randperm(len(X_tr))
    for batch in perm.split(64):
        loss = criterion(model(X_tr[batch]), y_tr[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(X_te).argmax(dim=1) == y_te).float().mean()
    print(f"epoch {epoch + 1} | loss {loss.item():.4f} | acc {acc.item():.4f}")
