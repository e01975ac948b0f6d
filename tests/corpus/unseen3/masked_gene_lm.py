import torch
import torch.nn as nn

torch.manual_seed(27)
MASK, VOCAB, LEN = 0, 9, 12


def genes(n):
    motif = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8], [4, 1, 8, 5]])
    return motif[torch.randint(0, 3, (n,))].repeat(1, LEN // 4)


def mask_tokens(ids, p=0.25):
    labels = ids
    picked = torch.rand(ids.shape) < p
    ids[picked] = MASK
    return ids, labels, picked


class GeneBert(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, d)
        self.pos = nn.Parameter(0.1 * torch.randn(LEN, d))
        self.enc = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d, 2, 64, dropout=0.0, batch_first=True), 1)
        self.lm_head = nn.Linear(d, VOCAB)

    def forward(self, ids):
        return self.lm_head(self.enc(self.tok(ids) + self.pos))


model = GeneBert()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(150):
    ids, labels, picked = mask_tokens(genes(48))
    logits = model(ids)
    loss = nn.functional.cross_entropy(logits[picked], labels[picked])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} mlm loss {loss.item():.4f}")

model.eval()
probe = genes(200)
hidden = probe.clone()
hidden[:, 5] = MASK
with torch.no_grad():
    guess = model(hidden)[:, 5].argmax(-1)
print(f"fill-in accuracy {(guess == probe[:, 5]).float().mean():.3f}")
