import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(5)
torch.manual_seed(5)
TOPICS = {
    0: "goal match team coach league player score".split(),
    1: "stock market bank profit share trade fund".split(),
    2: "cell gene virus study doctor drug trial".split(),
}
COMMON = "the of and in to a was for on with said new year".split()
words = sorted({w for ws in TOPICS.values() for w in ws} | set(COMMON))
index = {w: i for i, w in enumerate(words)}


def headline():
    label = random.randrange(3)
    toks = random.choices(COMMON, k=9) + random.choices(TOPICS[label], k=2) + random.choices(TOPICS[(label + 1) % 3], k=1)
    random.shuffle(toks)
    return [index[t] for t in toks], label


class TextCNN(nn.Module):
    def __init__(self, n_words, dim=24, channels=24, p=0.5):
        super().__init__()
        self.embed = nn.Embedding(n_words, dim)
        self.conv = nn.Conv1d(dim, channels, 3, padding=1)
        self.fc = nn.Linear(channels, 3)
        self.p = p

    def forward(self, ids):
        x = self.embed(ids).transpose(1, 2)
        x = F.relu(self.conv(x)).amax(2)
        x = F.dropout(x, self.p, training=self.training)
        return self.fc(x)


train = [headline() for _ in range(900)]
test = [headline() for _ in range(300)]
x_train, y_train = torch.tensor([t[0] for t in train]), torch.tensor([t[1] for t in train])
x_test, y_test = torch.tensor([t[0] for t in test]), torch.tensor([t[1] for t in test])

model = TextCNN(len(words))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(900).split(30):
        opt.zero_grad()
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        a, b = model(x_test), model(x_test)
    acc = (a.argmax(1) == y_test).float().mean().item()
    same = (a.argmax(1) == b.argmax(1)).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test acc {acc:.3f} repeatability {same:.3f}")
