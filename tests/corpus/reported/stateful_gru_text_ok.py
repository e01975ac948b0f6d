import torch
from torch import nn

TEXT = ("the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. "
        "how vexingly quick daft zebras jump. sphinx of black quartz judge my vow. ") * 12
STREAMS, CHUNK = 8, 20


class CharGRU(nn.Module):
    def __init__(self, characters, dim=32):
        super().__init__()
        self.embed = nn.Embedding(characters, dim)
        self.gru = nn.GRU(dim, 64)
        self.out = nn.Linear(64, characters)

    def forward(self, ids, state=None):
        hidden, state = self.gru(self.embed(ids), state)
        return self.out(hidden), state


def streams(text):
    table = {c: i for i, c in enumerate(sorted(set(text)))}
    ids = torch.tensor([table[c] for c in text])
    length = len(ids) // STREAMS
    return ids[:length * STREAMS].view(STREAMS, length).t().contiguous(), len(table)


def train(epochs=3):
    data, characters = streams(TEXT)
    model = CharGRU(characters)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        state = None
        total, chunks = 0.0, 0
        for start in range(0, len(data) - 1 - CHUNK, CHUNK):
            inputs = data[start:start + CHUNK]
            targets = data[start + 1:start + 1 + CHUNK]
            if state is not None:
                state = state.detach()
            logits, state = model(inputs, state)
            loss = criterion(logits.view(-1, characters), targets.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
            chunks += 1
        print(f"epoch {epoch}: {total / chunks:.3f}")


if __name__ == "__main__":
    torch.manual_seed(19)
    train()
