import torch
from torch import nn
from sklearn.datasets import load_iris

torch.manual_seed(0)
X, y = load_iris(return_X_y=True)
order = torch.randperm(150)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
train, test = order[:110], order[110:]
X = (X - X[train].mean(0)) / X[train].std(0)

model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.3, max_iter=6, history_size=8)
evaluations = 0


def closure():
    global evaluations
    evaluations += 1
    optimizer.zero_grad()
    out = nn.functional.cross_entropy(model(X[train]), y[train])
    penalty = sum(p.pow(2).sum() for p in model.parameters())
    loss = out + 1e-3 * penalty
    loss.backward()
    return loss


for it in range(8):
    loss = optimizer.step(closure)
    print(f"outer {it} loss {loss.item():.6f} evaluations {evaluations}")

model.eval()
with torch.no_grad():
    print("test acc", round((model(X[test]).argmax(1) == y[test]).float().mean().item(), 4))
