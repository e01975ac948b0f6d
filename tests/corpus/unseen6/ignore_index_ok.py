import torch
from torch import nn

torch.manual_seed(0)
V, PAD = 15, 0
emb, rnn, out = nn.Embedding(V, 24, padding_idx=PAD), nn.GRU(24, 48, batch_first=True), nn.Linear(48, V)
params = [p for m in (emb, rnn, out) for p in m.parameters()]
opt = torch.optim.Adam(params, 4e-3)
seqs = torch.zeros(500, 24, dtype=torch.long)
for i in range(500):
    n = int(torch.randint(4, 20, ()))
    start, inc = int(torch.randint(1, V, ())), int(torch.randint(1, 4, ()))
    seqs[i, :n] = (start + inc * torch.arange(n)) % (V - 1) + 1
crit = nn.CrossEntropyLoss(ignore_index=PAD)
for epoch in range(6):
    for i in torch.randperm(500).split(25):
        s = seqs[i]
        logits = out(rnn(emb(s[:, :-1]))[0])
        loss = crit(logits.reshape(-1, V), s[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), "ppl", loss.exp().item())
