import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = ("the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs away. " * 12)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
BLOCK = 24


def get_batch(n=16):
    ix = torch.randint(len(data) - BLOCK - 1, (n,))
    x = torch.stack([data[i:i + BLOCK] for i in ix])
    y = torch.stack([data[i + 1:i + BLOCK + 1] for i in ix])
    return x, y


class TinyGPT(nn.Module):
    def __init__(self, vocab, d=48, layers=2):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(BLOCK, d)
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(d)
        self.head = nn.Linear(d, vocab)

    def forward(self, idx):
        t = idx.size(1)
        x = self.tok(idx) + self.pos(torch.arange(t))
        x = self.blocks(x, mask=nn.Transformer.generate_square_subsequent_mask(t), is_causal=True)
        return self.head(self.ln(x))


@torch.no_grad()
def generate(model, prompt, n):
    ids = [stoi[c] for c in prompt]
    for _ in range(n):
        logits = model(torch.tensor([ids[-BLOCK:]]))
        ids.append(logits[0, -1].argmax().item())
    return "".join(chars[i] for i in ids)


model = TinyGPT(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(200):
    xb, yb = get_batch()
    logits = model(xb)
    loss = F.cross_entropy(logits.flatten(0, 1), yb.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")
model.eval()
prompt = text[:20]
out = generate(model, prompt, 40)
match = sum(a == b for a, b in zip(out[20:], text[20:60])) / 40
print(repr(out), f"match {match:.2f}")
