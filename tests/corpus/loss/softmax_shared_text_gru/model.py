import torch
from torch import nn


class TextClassifier(nn.Module):
    """Embedding, GRU, and a linear layer on the last state."""

    def __init__(self, vocab_size, num_classes, dim=16, hidden=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, num_classes)

    def forward(self, tokens):
        _, state = self.rnn(self.embedding(tokens))
        return torch.softmax(self.out(state[-1]), dim=-1)

    def predict(self, tokens):
        return torch.argmax(self.forward(tokens), dim=-1)
