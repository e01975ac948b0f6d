import torch
import torch.nn as nn

DIM = 50
torch.manual_seed(0)
vectors = torch.randn(100, 50)


class TextNet(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.embed = nn.Embedding(len(table), DIM)
        self.embed.weight.data.copy_(table)
        self.out = nn.Linear(DIM, 2)

    def forward(self, ids):
        return self.out(self.embed(ids).mean(1))


model = TextNet(vectors)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
ids = torch.randint(0, 100, (64, 7))
for step in range(5):
    loss = nn.functional.cross_entropy(model(ids), (ids[:, 0] > 50).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
