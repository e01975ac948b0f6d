import numpy as np
import torch
from torch import nn


class SentimentLSTM(nn.Module):
    def __init__(self, vocab=60, emb=16, hidden=24, p=0.5):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.drop = nn.Dropout(p)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.classifier = nn.Linear(hidden, 2)

    def forward(self, tokens):
        x = self.drop(self.embedding(tokens))
        _, (h, _) = self.lstm(x)
        return self.classifier(self.drop(h[-1]))


class SentimentModel:
    def __init__(self, epochs=6, batch_size=40, lr=1e-2, seed=0):
        torch.manual_seed(seed)
        self.epochs, self.batch_size = epochs, batch_size
        self.net = SentimentLSTM()
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.loss = nn.CrossEntropyLoss()

    def fit(self, X, y, X_val, y_val):
        for epoch in range(self.epochs):
            self.net.train()
            order = torch.randperm(len(X))
            losses = []
            for idx in order.split(self.batch_size):
                self.opt.zero_grad()
                loss = self.loss(self.net(X[idx]), y[idx])
                loss.backward()
                self.opt.step()
                losses.append(loss.item())
            print(f"epoch {epoch} loss {np.mean(losses):.5f} val acc {self.score(X_val, y_val):.4f}")
        return self

    def predict(self, X):
        with torch.inference_mode():
            return self.net(X).argmax(dim=1)

    def score(self, X, y):
        return (self.predict(X) == y).float().mean().item()


def reviews(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.integers(0, 60, (n, 12))
    tone = rng.random((n, 12)) < 0.25
    X = np.where(tone, rng.integers(0, 5, (n, 12)) + 5 * y[:, None], X)
    return torch.from_numpy(X), torch.from_numpy(y)


if __name__ == "__main__":
    SentimentModel().fit(*reviews(400, 1), *reviews(120, 2))
