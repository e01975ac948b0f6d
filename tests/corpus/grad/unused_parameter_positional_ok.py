import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
SEQ, VOCAB, DIM = 8, 20, 32


class OrderNet(nn.Module):
    """Read a short sequence of tokens backwards."""

    def __init__(self):
        super().__init__()
        self.tok_emb = nn.Embedding(VOCAB, DIM)
        self.pos_emb = nn.Parameter(0.3 * torch.randn(1, SEQ, DIM))
        self.attn = nn.MultiheadAttention(DIM, 4, batch_first=True)
        self.ln1 = nn.LayerNorm(DIM)
        self.ff = nn.Sequential(nn.Linear(DIM, 64), nn.GELU(), nn.Linear(64, DIM))
        self.ln2 = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, ids):
        x = self.tok_emb(ids) + self.pos_emb
        h = self.ln1(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        x = x + self.ff(self.ln2(x))
        return self.head(x)


model = OrderNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
for step in range(80):
    ids = torch.randint(0, VOCAB, (64, SEQ))
    target = ids.flip(1)
    loss = F.cross_entropy(model(ids).transpose(1, 2), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 16 == 0:
        print(f"step {step}: {loss.item():.5f}")
