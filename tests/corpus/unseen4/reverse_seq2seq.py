import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(40)
BOS, VOCAB, LEN = 0, 12, 5


class Seq2Seq(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 24)
        self.encoder = nn.GRU(24, hidden, batch_first=True)
        self.decoder = nn.GRU(24, hidden, batch_first=True)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, src, dec_in):
        _, h = self.encoder(self.emb(src))
        out, _ = self.decoder(self.emb(dec_in), h)
        return self.out(out)

    @torch.no_grad()
    def generate(self, src):
        _, h = self.encoder(self.emb(src))
        token = torch.full((len(src), 1), BOS)
        result = []
        for _ in range(LEN):
            out, h = self.decoder(self.emb(token), h)
            token = self.out(out).argmax(-1)
            result.append(token)
        return torch.cat(result, dim=1)


def batch(n):
    src = torch.randint(1, VOCAB, (n, LEN))
    return src, src.flip(1)


model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(500):
    src, tgt = batch(64)
    dec_in = tgt
    logits = model(src, dec_in)
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), tgt.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        print(f"step {step + 1}: loss {loss.item():.4f}")

src, tgt = batch(200)
print("token accuracy when generating", (model.generate(src) == tgt).float().mean().item())
