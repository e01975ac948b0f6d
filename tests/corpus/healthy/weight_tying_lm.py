import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
V, D, T = 14, 32, 12


class TiedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, D)
        self.rnn = nn.GRU(D, D, batch_first=True)
        self.out = nn.Linear(D, V, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def batch(n=32):
    start, stride = torch.randint(0, V, (n, 1)), torch.randint(1, 3, (n, 1))
    seq = (start + stride * torch.arange(T + 1)) % V
    return seq[:, :-1], seq[:, 1:]


model = TiedLM()
nn.init.normal_(model.embed.weight, std=0.3)
print("parameters", sum(p.numel() for p in model.parameters()))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(70):
    x, y = batch()
    loss = F.cross_entropy(model(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 14 == 0:
        print(f"step {step} nll {loss.item():.5f}")
