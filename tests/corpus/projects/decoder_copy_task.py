"""A decoder-only transformer on arithmetic progressions."""
import torch
from torch import nn


class DecoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x, mask):
        h = self.norm1(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.feed(self.norm2(x))


class Decoder(nn.Module):
    def __init__(self, vocab, length, width=48, heads=4, layers=2):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Parameter(torch.randn(1, length, width) * 0.02)
        self.layers = nn.ModuleList([DecoderLayer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.tokens(ids) + self.positions[:, :length]
        mask = self.mask[:length, :length]
        for layer in self.layers:
            x = layer(x, mask)
        return self.lm_head(self.norm(x))


class Progressions:
    def __init__(self, vocab, length, seed):
        self.vocab, self.length = vocab, length
        self.generator = torch.Generator().manual_seed(seed)

    def batch(self, size):
        start = torch.randint(0, self.vocab, (size, 1), generator=self.generator)
        stride = torch.randint(1, 6, (size, 1), generator=self.generator)
        jump = torch.randint(0, 2, (size, self.length + 1), generator=self.generator).cumsum(1)
        return (start + stride * jump) % self.vocab


def main(steps=150):
    torch.manual_seed(0)
    source = Progressions(20, 16, seed=4)
    model = Decoder(20, 16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        tokens = source.batch(32)
        inputs, targets = tokens[:, :-1], tokens[:, 1:]
        logits = model(inputs)
        loss = criterion(logits.reshape(-1, 20), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
