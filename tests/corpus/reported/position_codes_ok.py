import math

import torch
from torch import nn
import torch.nn.functional as F

LENGTH, DIM, VOCAB = 96, 32, 10


def position_table(length, dim):
    table = torch.zeros(length, dim)
    position = torch.arange(length, dtype=torch.float32)
    for i in range(0, dim, 2):
        angle = position / 10000 ** (i / dim)
        table[:, i] = torch.sin(angle)
        table[:, i + 1] = torch.cos(angle)
    return table


class PointerModel(nn.Module):
    """Attend to the position named by the query and return its token."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.register_buffer("positions", position_table(LENGTH, DIM))
        self.query = nn.Linear(DIM, DIM)
        self.key = nn.Linear(DIM, DIM)
        self.out = nn.Linear(DIM, VOCAB)

    def forward(self, tokens, wanted):
        q = self.query(self.positions[wanted])
        k = self.key(self.positions)
        weights = F.softmax(q @ k.t() / math.sqrt(DIM), dim=-1)
        values = self.tokens(tokens)
        return self.out((weights.unsqueeze(-1) * values).sum(dim=1))


def batch(n):
    tokens = torch.randint(VOCAB, (n, LENGTH))
    wanted = torch.randint(LENGTH, (n,))
    return tokens, wanted, tokens[torch.arange(n), wanted]


def main():
    torch.manual_seed(0)
    model = PointerModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(1, 401):
        model.train()
        tokens, wanted, answer = batch(96)
        loss = F.cross_entropy(model(tokens, wanted), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            model.eval()
            with torch.no_grad():
                tokens, wanted, answer = batch(1000)
                acc = (model(tokens, wanted).argmax(1) == answer).float().mean().item()
            print(f"step {step} loss {loss.item():.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
