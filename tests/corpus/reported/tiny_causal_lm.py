"""A tiny causal language model on counting sequences."""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, LENGTH = 13, 12


def sequences(n):
    start = torch.randint(VOCAB, (n, 1))
    stride = torch.randint(1, 4, (n, 1))
    return (start + stride * torch.arange(LENGTH)) % VOCAB


class TinyLM(nn.Module):
    def __init__(self, dim=32, heads=2):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim)
        self.position = nn.Embedding(LENGTH, dim)
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, tokens):
        n = tokens.size(1)
        x = self.token(tokens) + self.position(torch.arange(n))
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        h = self.norm1(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return self.out(x + self.mlp(self.norm2(x)))


def lm_loss(model, tokens):
    logits = model(tokens)
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


@torch.no_grad()
def continue_accuracy(model, n=300):
    model.eval()
    tokens = sequences(n)
    predicted = model(tokens[:, :-1])[:, -1].argmax(dim=1)
    return (predicted == tokens[:, -1]).float().mean().item()


def main():
    torch.manual_seed(0)
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(1, 241):
        model.train()
        loss = lm_loss(model, sequences(64))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 80 == 0:
            print(f"step {step} loss {loss.item():.4f} next token accuracy {continue_accuracy(model):.3f}")


if __name__ == "__main__":
    main()
