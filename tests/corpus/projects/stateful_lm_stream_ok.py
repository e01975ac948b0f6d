"""A recurrent language model that carries its state along a stream."""
import torch
from torch import nn


def make_stream(length, vocab, generator):
    steps = torch.randint(1, 4, (length,), generator=generator)
    return steps.cumsum(0) % vocab


def batchify(stream, batch):
    columns = len(stream) // batch
    return stream[: columns * batch].view(batch, columns).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, vocab, width=32):
        super().__init__()
        self.width = width
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, width)
        self.decoder = nn.Linear(width, vocab)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.embed(tokens), hidden)
        return self.decoder(output), hidden

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.width), torch.zeros(1, batch, self.width)


def repackage(hidden):
    return tuple(part.detach() for part in hidden)


def train(model, source, optimizer, bptt, vocab):
    criterion = nn.CrossEntropyLoss()
    hidden = model.init_hidden(source.shape[1])
    total, count = 0.0, 0
    for start in range(0, len(source) - 1 - bptt, bptt):
        data, targets = source[start : start + bptt], source[start + 1 : start + 1 + bptt]
        output, hidden = model(data, repackage(hidden))
        loss = criterion(output.view(-1, vocab), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    return total / count


def main(vocab=24):
    torch.manual_seed(0)
    source = batchify(make_stream(12000, vocab, torch.Generator().manual_seed(0)), 16)
    model = RNNModel(vocab)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        print(f"epoch {epoch} loss {train(model, source, optimizer, 20, vocab):.4f}")


if __name__ == "__main__":
    main()
