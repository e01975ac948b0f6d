import torch
from torch import nn

torch.manual_seed(0)
V = 14


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.rnn, self.out = nn.Embedding(V, 24), nn.GRU(24, 48, batch_first=True), nn.Linear(48, V)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def make(n):
    s = torch.randint(1, V, (n, 1))
    return (s + torch.arange(13) * (1 + s % 3)) % V


data, held = make(500), make(100)
net = Model()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for epoch in range(4):
    net.train()
    for i in torch.randperm(500).split(50):
        s = data[i]
        loss = nn.functional.cross_entropy(net(s[:, :-1]).reshape(-1, V), s[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        cur = held[:, :3]
        for t in range(3, 13):
            nxt = net(cur)[:, -1].argmax(-1, keepdim=True)
            cur = torch.cat([cur, held[:, t : t + 1]], 1)
        print(epoch, loss.item(), "free run", (cur == held).float().mean().item())
