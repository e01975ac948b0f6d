import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class TorchClassifier:
    """fit / predict / score around a small network."""

    def __init__(self, hidden=48, epochs=6, lr=5e-3, batch_size=60, seed=0):
        self.hidden, self.epochs, self.lr = hidden, epochs, lr
        self.batch_size, self.seed = batch_size, seed

    def fit(self, X, y):
        torch.manual_seed(self.seed)
        X = torch.as_tensor(X, dtype=torch.float32)
        y = torch.as_tensor(y, dtype=torch.long)
        self.n_classes_ = int(y.max())
        self.net_ = nn.Sequential(
            nn.Linear(X.shape[1], self.hidden),
            nn.LayerNorm(self.hidden),
            nn.ReLU(),
            nn.Linear(self.hidden, self.n_classes_),
        )
        opt = torch.optim.Adam(self.net_.parameters(), lr=self.lr)
        self.net_.train()
        for epoch in range(self.epochs):
            perm = torch.randperm(len(X))
            total = 0.0
            for i in range(0, len(X), self.batch_size):
                b = perm[i:i + self.batch_size]
                loss = nn.functional.cross_entropy(self.net_(X[b]), y[b])
                opt.zero_grad()
                loss.backward()
                opt.step()
                total += loss.item() * len(b)
            print(f"[{epoch}] loss {total / len(X):.6f}")
        return self

    @torch.no_grad()
    def predict(self, X):
        self.net_.eval()
        return self.net_(torch.as_tensor(X, dtype=torch.float32)).argmax(1).numpy()

    def score(self, X, y):
        return float(np.mean(self.predict(X) == y))


X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, test_size=0.3, random_state=0)
clf = TorchClassifier().fit(X_train, y_train)
print("test accuracy", round(clf.score(X_test, y_test), 4))
