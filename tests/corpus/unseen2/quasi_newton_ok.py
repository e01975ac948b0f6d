import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
scaler = StandardScaler().fit(X_tr)
X_tr = torch.tensor(scaler.transform(X_tr))
X_te = torch.tensor(scaler.transform(X_te))
y_tr, y_te = torch.tensor(y_tr, dtype=torch.float64), torch.tensor(y_te, dtype=torch.float64)

linear = torch.nn.Linear(X_tr.shape[1], 1).double()
bce = torch.nn.BCEWithLogitsLoss()
optimizer = torch.optim.LBFGS(linear.parameters(), lr=1.0, max_iter=10, history_size=10,
                              line_search_fn="strong_wolfe")
ridge = 1e-2


def closure():
    optimizer.zero_grad()
    loss = bce(linear(X_tr).squeeze(1), y_tr) + ridge * linear.weight.pow(2).sum()
    loss.backward()
    return loss


for it in range(6):
    loss = optimizer.step(closure)
    grad = linear.weight.grad.abs().max().item()
    print(f"iteration {it} objective {loss.item():.6f} max grad {grad:.2e}")

with torch.no_grad():
    logits = linear(X_te).squeeze(1)
    acc = ((logits > 0) == y_te.bool()).double().mean().item()
    nll = bce(logits, y_te).item()
    majority = max(y_te.mean().item(), 1 - y_te.mean().item())
    weight_norm = linear.weight.norm().item()
print(f"test accuracy {acc:.4f}, log loss {nll:.4f}")
print(f"majority class {majority:.4f}, weight norm {weight_norm:.3f}")
