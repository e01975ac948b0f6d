import random

import torch
import torch.nn as nn

torch.manual_seed(1337)
device = "cuda" if torch.cuda.is_available() else "cpu"

rng = random.Random(0)
who, did, where = ["cat", "dog", "frog", "hog", "old owl"], ["sat", "ran", "slept"], ["mat", "log", "bog", "fog", "hill"]
text = " ".join(f"the {rng.choice(who)} {rng.choice(did)} on the {rng.choice(where)}." for _ in range(160))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
n = int(0.85 * len(data))
train_data, val_data = data[:n], data[n:]
block_size, batch_size = 24, 16


def get_batch(split):
    source = train_data if split == "train" else val_data
    ix = torch.randint(len(source) - block_size - 1, (batch_size,))
    x = torch.stack([source[i:i + block_size] for i in ix])
    y = torch.stack([source[i + 1:i + 1 + block_size] for i in ix])
    return x.to(device), y.to(device)


class CharGRU(nn.Module):
    def __init__(self, vocab, emb=16, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.lm_head = nn.Linear(hidden, vocab)

    def forward(self, idx):
        h, _ = self.rnn(self.emb(idx))
        return self.lm_head(h)


model = CharGRU(len(chars)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


@torch.no_grad()
def estimate_loss():
    model.eval()
    losses = []
    for _ in range(4):
        x, y = get_batch("val")
        losses.append(nn.functional.cross_entropy(model(x).transpose(1, 2), y).item())
    model.train()
    return sum(losses) / len(losses)


for it in range(80):
    xb, yb = get_batch("train")
    logits = model(xb)
    loss = nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), yb.view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 20 == 19:
        print(f"iter {it + 1}: train {loss.item():.5f}, val {estimate_loss():.5f}")
