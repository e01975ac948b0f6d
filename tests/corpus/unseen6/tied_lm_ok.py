import torch
from torch import nn

torch.manual_seed(0)
V, D, T = 24, 32, 12


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.pos = nn.Embedding(T, D)
        self.block = nn.TransformerEncoderLayer(D, 4, 64, 0.0, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)
        self.head.weight = self.emb.weight
        nn.init.normal_(self.emb.weight, std=0.02)

    def forward(self, x):
        h = self.emb(x) + self.pos(torch.arange(x.size(1)))
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.head(self.norm(self.block(h, mask, is_causal=True)))


m = LM()
decay = [p for p in m.parameters() if p.dim() > 1]
rest = [p for p in m.parameters() if p.dim() <= 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], 3e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 20))
for step in range(150):
    start = torch.randint(0, V, (32, 1))
    seq = (start + torch.arange(T + 1) * (1 + start % 3)) % V
    loss = nn.functional.cross_entropy(m(seq[:, :-1]).reshape(-1, V), seq[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 50 == 0:
        print(step, loss.item())
