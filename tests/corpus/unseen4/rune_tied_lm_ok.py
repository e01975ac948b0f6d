import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
text = "the old ferry left the quay at dawn and the gulls followed the old ferry over the grey bay " * 30
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
V, CTX = len(chars), 16


class TinyLM(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tok = nn.Embedding(V, dim)
        self.pos = nn.Parameter(0.02 * torch.randn(CTX, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, V, bias=False)
        self.head.weight = self.tok.weight
        nn.init.normal_(self.tok.weight, std=0.1)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        h = self.blocks(self.tok(x) + self.pos[: x.size(1)], mask=mask, is_causal=True)
        return self.head(h)


model = TinyLM()
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(150):
    start = torch.randint(0, len(ids) - CTX - 1, (32,))
    chunk = torch.stack([ids[s:s + CTX + 1] for s in start])
    logits = model(chunk[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), chunk[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        print("step", step + 1, "loss", round(loss.item(), 4), "ppl", round(loss.exp().item(), 3))
model.eval()
out = ids[:6].tolist()
with torch.no_grad():
    for _ in range(30):
        out.append(model(torch.tensor([out[-CTX:]]))[0, -1].argmax().item())
print("".join(chars[i] for i in out))
