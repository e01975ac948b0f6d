import torch
from torch import nn

torch.manual_seed(0)
text = torch.tensor([(i * i + i // 3) % 17 for i in range(4000)])
B, L = 8, 20
stream = text[: len(text) // B * B].view(B, -1)
emb, rnn, out = nn.Embedding(17, 24), nn.GRU(24, 48, batch_first=True), nn.Linear(48, 17)
params = [*emb.parameters(), *rnn.parameters(), *out.parameters()]
opt = torch.optim.Adam(params, 3e-3)
for epoch in range(3):
    h = None
    for s in range(0, stream.size(1) - L - 1, L):
        x, y = stream[:, s : s + L], stream[:, s + 1 : s + L + 1]
        o, h = rnn(emb(x), h)
        h = h.detach()
        loss = nn.functional.cross_entropy(out(o).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
    print(epoch, loss.exp().item())
