import numpy as np
import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
np.random.seed(0)

X, y = load_iris(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
mean, std = X_tr.mean(axis=0), X_tr.std(axis=0)
X_tr = torch.FloatTensor((X_tr - mean) / std)
X_te = torch.FloatTensor((X_te - mean) / std)
y_tr, y_te = torch.LongTensor(y_tr), torch.LongTensor(y_te)

clf = torch.nn.Linear(4, 3)
optim = torch.optim.SGD(clf.parameters(), lr=0.1, momentum=0.5)
loss_fn = torch.nn.CrossEntropyLoss()

log = []
for epoch in range(12):
    for idx in torch.randperm(len(X_tr)).split(21):
        loss = loss_fn(clf(X_tr[idx]), y_tr[idx])
        optim.step()
        optim.zero_grad()
        loss.backward()
        log.append(loss.item())
    if epoch % 3 == 2:
        print("epoch", epoch + 1, "loss", round(float(np.mean(log[-5:])), 6))

with torch.no_grad():
    acc = (clf(X_te).argmax(dim=1) == y_te).float().mean()
print("test accuracy", round(acc.item(), 4))
