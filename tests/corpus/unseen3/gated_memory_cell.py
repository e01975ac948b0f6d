import torch
from torch import nn


class GatedCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.gate = nn.Linear(n_in + n_hidden, n_hidden)
        self.cand = nn.Linear(n_in + n_hidden, n_hidden)

    def forward(self, x, h, decay):
        z = torch.cat([x, h], dim=-1)
        gate = torch.sigmoid(self.gate(z))
        gate *= decay
        cand = torch.tanh(self.cand(z))
        return (1 - gate) * h + gate * cand


class MemoryNet(nn.Module):
    def __init__(self, n_in=4, n_hidden=24):
        super().__init__()
        self.n_hidden = n_hidden
        self.cell = GatedCell(n_in, n_hidden)
        self.head = nn.Linear(n_hidden, n_in)

    def forward(self, seq):
        h = seq.new_zeros(seq.size(0), self.n_hidden)
        for step in range(seq.size(1)):
            h = self.cell(seq[:, step], h, decay=0.9)
        return self.head(h)


def recall_batch(n, length=6):
    symbols = torch.randint(0, 4, (n, length))
    return nn.functional.one_hot(symbols, 4).float(), symbols[:, -2]


if __name__ == "__main__":
    torch.manual_seed(0)
    net = MemoryNet()
    opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
    for it in range(200):
        x, y = recall_batch(32)
        logits = net(x)
        loss = nn.functional.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 50 == 0:
            print(it, f"{loss.item():.4f}", f"acc {(logits.argmax(1) == y).float().mean():.2f}")
