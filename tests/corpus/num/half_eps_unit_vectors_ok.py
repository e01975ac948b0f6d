import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
N_WORDS, N_DOCS = 60, 240


def bag_of_words():
    """Short documents over two word groups; some hold only words that were filtered out."""
    topic = torch.randint(0, 2, (N_DOCS,))
    rate = torch.where(torch.arange(N_WORDS)[None] // 30 == topic[:, None], 0.10, 0.02)
    counts = torch.bernoulli(rate)
    counts[::16] = 0
    return counts, topic


def unit_rows(v):
    """Halve the memory of the features and scale each row to length one."""
    v = v.half()
    length = v.norm(dim=1, keepdim=True)
    return v / (length + 1e-3)


class Linear2(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(N_WORDS, 16)
        self.b = nn.Linear(16, 2)

    def forward(self, v):
        return self.b(torch.tanh(self.a(v)))


counts, topic = bag_of_words()
features = unit_rows(counts)
net = Linear2()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(N_DOCS).split(40):
        loss = F.cross_entropy(net(features[rows].float()), topic[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
