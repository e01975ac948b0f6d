# Soil type classification with hand-written gradient descent
import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

torch.manual_seed(17)

raw = load_wine()
x_tr, x_te, y_tr, y_te = train_test_split(raw.data, raw.target, test_size=0.3, random_state=17, stratify=raw.target)
mu, sd = x_tr.mean(0), x_tr.std(0)
x_tr = torch.tensor((x_tr - mu) / sd, dtype=torch.float32)
x_te = torch.tensor((x_te - mu) / sd, dtype=torch.float32)
y_tr, y_te = torch.from_numpy(y_tr), torch.from_numpy(y_te)

dim, classes, per_class = x_tr.shape[1], 3, 2
project = (torch.randn(dim, 6) / np.sqrt(dim)).requires_grad_()
prototypes = torch.randn(classes * per_class, 6, requires_grad=True)
log_temp = torch.zeros(1, requires_grad=True)
params = [project, prototypes, log_temp]


def logits(x):
    z = x @ project
    d = torch.cdist(z, prototypes) ** 2
    d = d.view(len(x), classes, per_class).min(dim=2).values
    return -d * log_temp.exp()


lr = 0.05
for epoch in range(80):
    loss = torch.nn.functional.cross_entropy(logits(x_tr), y_tr)
    loss.backward()
    for p in params:
        p -= lr * p.grad
        p.grad.zero_()
    if epoch % 20 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))

with torch.no_grad():
    acc = (logits(x_te).argmax(1) == y_te).float().mean().item()
print("test accuracy", round(acc, 4))
