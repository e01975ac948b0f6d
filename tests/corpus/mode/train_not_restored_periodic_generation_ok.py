import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
TEXT = "she sells sea shells by the sea shore. " * 20
CHARS = sorted(set(TEXT))
ENC = {c: i for i, c in enumerate(CHARS)}
DATA = torch.tensor([ENC[c] for c in TEXT])
BLOCK, V = 16, len(CHARS)


class GPTish(nn.Module):
    def __init__(self, d=32, p=0.2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, d), nn.Embedding(BLOCK, d)
        self.drop = nn.Dropout(p)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=p, batch_first=True, norm_first=True)
        self.trunk = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(d, V)

    def forward(self, ids):
        n = ids.size(1)
        mask = torch.triu(torch.ones(n, n, dtype=torch.bool, device=ids.device), 1)
        x = self.drop(self.wte(ids) + self.wpe(torch.arange(n, device=ids.device)))
        return self.head(self.trunk(x, mask=mask))

    @torch.no_grad()
    def generate(self, prompt, n):
        self.eval()
        ids = torch.tensor([[ENC[c] for c in prompt]])
        for _ in range(n):
            ids = torch.cat([ids, self(ids[:, -BLOCK:])[:, -1:].argmax(-1)], dim=1)
        self.train()
        return "".join(CHARS[i] for i in ids[0])


model = GPTish()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
model.train()
for it in range(60):
    at = torch.randint(0, len(DATA) - BLOCK - 1, (16,))
    x = torch.stack([DATA[a:a + BLOCK] for a in at])
    y = torch.stack([DATA[a + 1:a + BLOCK + 1] for a in at])
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 20 == 0:
        print(it, f"{loss.item():.5f}", repr(model.generate("she ", 12)))
print(f"last {loss.item():.5f}")
