import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(27)
PAD, N_WORDS, N_TAGS = 0, 50, 5
lexicon = torch.randint(1, N_TAGS, (N_WORDS,))
lexicon[PAD] = PAD


def make_sentences(n):
    words, tags = [], []
    for _ in range(n):
        length = 40 if torch.rand(1) < 0.1 else int(torch.randint(3, 9, (1,)))
        w = torch.randint(1, N_WORDS, (length,))
        t = lexicon[w].clone()
        noisy = torch.rand(length) < 0.3
        t[noisy] = torch.randint(1, N_TAGS, (int(noisy.sum()),))
        words.append(w)
        tags.append(t)
    return pad_sequence(words, True, PAD), pad_sequence(tags, True, PAD)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(N_WORDS, 16, padding_idx=PAD)
        self.lstm = nn.LSTM(16, 24, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(48, N_TAGS)

    def forward(self, x):
        return self.fc(self.lstm(self.emb(x))[0])


def token_accuracy(logits, tags, words):
    pred = logits.argmax(-1).masked_fill(words == PAD, PAD)
    mask = words != PAD
    return (pred == tags)[mask].float().mean().item()


xw, xt = make_sentences(500)
vw, vt = make_sentences(120)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for idx in torch.randperm(len(xw)).split(50):
        logits = model(xw[idx])
        loss = F.cross_entropy(logits.transpose(1, 2), xt[idx], ignore_index=PAD)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(f"epoch {epoch} loss {loss.item():.4f} token acc {token_accuracy(model(vw), vt, vw):.4f}")
