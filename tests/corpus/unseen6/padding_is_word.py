import torch
from torch import nn

torch.manual_seed(0)
vocab = {w: i for i, w in enumerate("good bad fine awful nice poor the a movie film".split())}
pos, neg = ["good", "fine", "nice"], ["bad", "awful", "poor"]
docs, labels = [], []
for _ in range(600):
    y = int(torch.rand(()) < 0.5)
    words = [(pos if y else neg)[int(torch.randint(3, ()))]] + ["the", "a", "movie", "film"][: int(torch.randint(1, 5, ()))]
    docs.append([vocab[w] for w in words])
    labels.append(y)
L = max(map(len, docs))
ids = torch.tensor([d + [0] * (L - len(d)) for d in docs])
y = torch.tensor(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab) + 1, 8, padding_idx=0)
        self.out = nn.Linear(8, 2)

    def forward(self, ids):
        keep = (ids != 0).unsqueeze(-1)
        return self.out((self.emb(ids) * keep).sum(1) / keep.sum(1).clamp(min=1))


net = Net()
opt = torch.optim.Adam(net.parameters(), 1e-2)
for epoch in range(6):
    for i in torch.randperm(600).split(30):
        loss = nn.functional.cross_entropy(net(ids[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), (net(ids).argmax(1) == y).float().mean().item())
