import torch, torch.nn as nn
torch.manual_seed(42)

# bigram language model on a tiny text
text = ("the quick brown fox jumps over the lazy dog. " * 12)
chars = sorted(set(text)); stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])
V, T, B = len(chars), 16, 16

class CharRNN(nn.Module):
    def __init__(s, d=32):
        super().__init__()
        s.emb = nn.Embedding(V, d); s.rnn = nn.RNN(d, d, batch_first=True); s.out = nn.Linear(d, V)
    def forward(s, x):
        h, _ = s.rnn(s.emb(x))
        return s.out(h)

def get_batch():
    ix = torch.randint(0, len(ids) - T - 1, (B,))
    x = torch.stack([ids[i:i + T] for i in ix]); y = torch.stack([ids[i + 1:i + T + 1] for i in ix])
    return x, y

m = CharRNN()
opt = torch.optim.Adam(m.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=60)
ce = nn.CrossEntropyLoss()
for it in range(60):
    x, y = get_batch()
    loss = ce(m(x).reshape(-1, V), y.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if it % 10 == 0: print(it, round(loss.item(), 5), sched.get_last_lr()[0])
