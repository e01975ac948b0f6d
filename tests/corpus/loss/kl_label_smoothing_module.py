import torch
import torch.nn as nn


class SmoothedTargets(nn.Module):
    """Compare the prediction with a softened one-hot distribution."""

    def __init__(self, size, smoothing=0.1):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="batchmean")
        self.on_value = 1.0 - smoothing
        self.off_value = smoothing / (size - 1)
        self.size = size

    def forward(self, x, target):
        soft = torch.full_like(x, self.off_value)
        soft.scatter_(1, target.unsqueeze(1), self.on_value)
        return self.criterion(x, soft.detach())


class WordModel(nn.Module):
    """Predict the middle word from two words on each side."""

    def __init__(self, vocab, d=24):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.norm = nn.LayerNorm(4 * d)
        self.to_vocab = nn.Sequential(nn.Linear(4 * d, 48), nn.GELU(), nn.Linear(48, vocab))

    def forward(self, ctx):
        h = self.norm(self.emb(ctx).flatten(1))
        return torch.softmax(self.to_vocab(h), dim=-1)


def corpus(vocab, n, gen):
    left = torch.randint(0, vocab, (n, 2), generator=gen)
    mid = (left.sum(1) + 1) % vocab
    right = torch.stack([(mid + 2) % vocab, (mid * 3) % vocab], 1)
    return torch.cat([left, right], 1), mid


def main():
    torch.manual_seed(9)
    gen = torch.Generator().manual_seed(4)
    vocab = 18
    ctx, mid = corpus(vocab, 400, gen)
    model = WordModel(vocab)
    smooth = SmoothedTargets(vocab, 0.1)
    optim = torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98), eps=1e-9)
    for epoch in range(5):
        for rows in torch.randperm(400).split(40):
            loss = smooth(model(ctx[rows]), mid[rows])
            loss.backward()
            optim.step()
            optim.zero_grad()
        print(f"Epoch {epoch} loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
