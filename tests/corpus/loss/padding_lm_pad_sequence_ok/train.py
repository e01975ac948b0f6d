import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

from dataset import Vocabulary, collate, sentences


class LM(nn.Module):
    def __init__(self, vocab, d=32):
        super().__init__()
        self.vocab = vocab
        self.tok = nn.Embedding(vocab, d, padding_idx=0)
        self.lstm = nn.LSTM(d, d, num_layers=1, batch_first=True)
        self.head = nn.Linear(d, vocab)

    def forward(self, ids):
        h, _ = self.lstm(self.tok(ids))
        return self.head(h)


def lm_loss(model, inputs, targets):
    logits = model(inputs)
    return F.cross_entropy(logits.reshape(-1, model.vocab), targets.reshape(-1), ignore_index=0)


def main():
    torch.manual_seed(5)
    corpus = sentences()
    vocab = Vocabulary(corpus)
    loader = DataLoader([vocab.encode(s) for s in corpus], batch_size=20, shuffle=True, collate_fn=collate)
    model = LM(len(vocab))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    for epoch in range(10):
        running = 0.0
        for inputs, targets in loader:
            opt.zero_grad()
            loss = lm_loss(model, inputs, targets)
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch:2d} ppl {torch.tensor(running / len(loader)).exp().item():.4f}")


if __name__ == "__main__":
    main()
