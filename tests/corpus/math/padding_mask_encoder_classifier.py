import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD = 0


class Reviews(Dataset):
    """Token sequences; good reviews carry more tokens of the upper half."""

    def __init__(self, n, vocab, max_len, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.full((n, max_len), PAD)
        self.y = torch.randint(0, 2, (n,), generator=g)
        for i in range(n):
            length = int(torch.randint(4, max_len, (1,), generator=g))
            half = (vocab - 1) // 2
            upper = torch.rand(length, generator=g) < (0.75 if self.y[i] else 0.25)
            base = torch.randint(1, half + 1, (length,), generator=g)
            self.x[i, :length] = base + upper * half

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Classifier(nn.Module):
    def __init__(self, vocab, max_len, d=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, d, padding_idx=PAD)
        self.pos = nn.Embedding(max_len, d)
        layer = nn.TransformerEncoderLayer(d, 3, 48, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.fc = nn.Linear(d, 2)

    def forward(self, tokens):
        padding_mask = tokens != PAD
        h = self.embed(tokens) + self.pos(torch.arange(tokens.size(1), device=tokens.device))
        h = self.encoder(h, src_key_padding_mask=padding_mask)
        keep = (tokens != PAD).unsqueeze(-1)
        return self.fc((h * keep).sum(1) / keep.sum(1))


def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.inference_mode():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right / len(loader.dataset)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--vocab", type=int, default=41)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(Reviews(320, args.vocab, 18, 0), batch_size=32, shuffle=True)
    val = DataLoader(Reviews(96, args.vocab, 18, 1), batch_size=32)
    model = Classifier(args.vocab, 18)
    opt, ce = torch.optim.Adam(model.parameters(), lr=args.lr), nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = ce(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.5f} val {evaluate(model, val):.4f}")
