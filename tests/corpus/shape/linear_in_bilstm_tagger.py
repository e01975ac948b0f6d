import random
import torch
import torch.nn as nn
import torch.optim as optim

random.seed(0); torch.manual_seed(0)

EMB, HID, TAGS, VOCAB = 16, 20, 4, 30

def make_sentence(n=10):
    ids = [random.randrange(VOCAB) for _ in range(n)]
    tags = [(a + b) % TAGS for a, b in zip(ids, ids[1:] + ids[:1])]
    return ids, tags

sents = [make_sentence() for _ in range(192)]
X = torch.tensor([s[0] for s in sents])
Y = torch.tensor([s[1] for s in sents])


class Tagger(nn.Module):
    def __init__(self):
        super(Tagger, self).__init__()
        self.word_embeddings = nn.Embedding(VOCAB, EMB)
        self.lstm = nn.LSTM(EMB, HID, batch_first=True, bidirectional=True)
        self.hidden2tag = nn.Linear(HID, TAGS)

    def forward(self, sentences):
        embeds = self.word_embeddings(sentences)
        lstm_out, _ = self.lstm(embeds)
        return self.hidden2tag(lstm_out)


model = Tagger()
loss_function = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)

for epoch in range(10):
    order = torch.randperm(len(X))
    tot = 0.
    for i in range(0, len(X), 32):
        b = order[i:i + 32]
        model.zero_grad()
        scores = model(X[b])
        loss = loss_function(scores.reshape(-1, TAGS), Y[b].reshape(-1))
        loss.backward()
        optimizer.step()
        tot += loss.item()
    print('epoch', epoch, 'loss', round(tot / 6, 6))
