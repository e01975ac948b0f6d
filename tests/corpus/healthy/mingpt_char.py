import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
from torch.utils.data import DataLoader, Dataset

text = "to be or not to be that is the question " * 8
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}


class Chars(Dataset):
    def __len__(self):
        return len(text) - 17

    def __getitem__(self, i):
        ids = torch.tensor([index[c] for c in text[i : i + 17]])
        return ids[:-1], ids[1:]


class GPT(nn.Module):
    def __init__(self, vocab, width=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Embedding(16, width)
        self.block = nn.TransformerEncoderLayer(width, 2, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        n = ids.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        x = self.tok(ids) + self.pos(torch.arange(n))
        return self.head(self.norm(self.block(x, src_mask=mask, is_causal=True)))


model = GPT(len(chars))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
for step, (ids, goal) in enumerate(DataLoader(Chars(), batch_size=16, shuffle=True)):
    logits = model(ids)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), goal.reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step == 10:
        break
print(loss.item())
