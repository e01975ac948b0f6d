import torch
from torch import nn


class LanguageData:
    """Counting sequences modulo a base; predict the next symbol."""

    def __init__(self, base=11, length=12, seed=0):
        self.base, self.length = base, length
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self, n):
        start = torch.randint(0, self.base, (n, 1), generator=self.gen)
        stride = torch.randint(1, 4, (n, 1), generator=self.gen)
        seq = (start + stride * torch.arange(self.length + 1)) % self.base
        return seq[:, :-1], seq[:, 1:]


class GRULM(nn.Module):
    def __init__(self, vocab, width=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, vocab)

    def forward(self, ids):
        return self.lm_head(self.gru(self.emb(ids))[0])


class Trainer:
    def __init__(self, model, data, lr=1e-2, grad_accum=3, micro_batch=12):
        self.model, self.data = model, data
        self.grad_accum, self.micro_batch = grad_accum, micro_batch
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)

    def micro_step(self):
        ids, targets = self.data.batch(self.micro_batch)
        logits = self.model(ids)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        self.opt.zero_grad()
        (loss / self.grad_accum).backward()
        return loss.item()

    def update(self):
        losses = [self.micro_step() for _ in range(self.grad_accum)]
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        return sum(losses) / len(losses)

    def train(self, updates):
        for u in range(updates):
            loss = self.update()
            if u % 6 == 0:
                print(f"update {u:3d}  loss {loss:.5f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    data = LanguageData()
    Trainer(GRULM(data.base), data).train(36)
