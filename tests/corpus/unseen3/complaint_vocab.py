import random
import torch
import torch.nn as nn
from collections import Counter

random.seed(6)
torch.manual_seed(6)
TOPICS = {
    "delivery": ["late", "courier", "parcel", "lost", "tracking", "delayed"],
    "refund": ["money", "refund", "charged", "invoice", "twice", "card"],
    "quality": ["broken", "scratched", "torn", "cheap", "defect", "smell"],
}
FILLER = ["please", "help", "my", "order", "the", "is", "very", "item", "and", "was", "again", "today"]
LABELS = list(TOPICS)


def write(n):
    texts, labels = [], []
    for _ in range(n):
        label = random.randrange(3)
        words = random.sample(FILLER, 5) + random.sample(TOPICS[LABELS[label]], 2)
        random.shuffle(words)
        texts.append(" ".join(words))
        labels.append(label)
    return texts, torch.tensor(labels)


def build_vocab(texts):
    counts = Counter(w for t in texts for w in t.split())
    return {w: i + 1 for i, (w, _) in enumerate(counts.most_common())}


def encode(texts, vocab):
    return torch.tensor([[vocab.get(w, 0) for w in t.split()] for t in texts])


train_texts, y_train = write(600)
test_texts, y_test = write(150)
vocab = build_vocab(train_texts)
x_train = encode(train_texts, vocab)
x_test = encode(test_texts, build_vocab(test_texts))

model = nn.Sequential(nn.EmbeddingBag(len(vocab) + 1, 16), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for idx in torch.randperm(600).split(40):
        loss = nn.functional.cross_entropy(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        tr = (model(x_train).argmax(1) == y_train).float().mean()
        te = (model(x_test).argmax(1) == y_test).float().mean()
    print(f"epoch {epoch} train {tr:.3f} test {te:.3f}")
