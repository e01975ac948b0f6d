import random

import numpy as np
import torch
from torch import nn

SEED = 5
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

VOCAB, DIM, LENGTH = 400, 3, 20
good_words = set(range(0, 60))
bad_words = set(range(60, 120))


def make_review():
    label = random.randint(0, 1)
    tokens = [random.randrange(120, VOCAB) for _ in range(LENGTH - 4)]
    tokens += random.sample(sorted(good_words if label else bad_words), 4)
    random.shuffle(tokens)
    return tokens, label


def make_split(n):
    pairs = [make_review() for _ in range(n)]
    return torch.tensor([p[0] for p in pairs]), torch.tensor([float(p[1]) for p in pairs])


class ReviewModel(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(table, freeze=False)
        self.hidden = nn.Linear(table.size(1), 16)
        self.score = nn.Linear(16, 1)

    def forward(self, tokens):
        pooled = self.embed(tokens).mean(dim=1)
        return self.score(torch.relu(self.hidden(pooled))).squeeze(-1)


x_train, y_train = make_split(1500)
x_test, y_test = make_split(500)
table = torch.from_numpy(np.random.uniform(-0.1, 0.1, size=(VOCAB, DIM))).float()
model = ReviewModel(table)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(12):
    model.train()
    running = 0.0
    for idx in torch.randperm(len(x_train)).split(100):
        optimizer.zero_grad()
        loss = loss_fn(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        acc = ((model(x_test) > 0).float() == y_test).float().mean()
    print(f"epoch {epoch + 1}: loss {running / len(x_train):.4f}, accuracy {acc:.3f}")
