import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(23)
USERS, RECIPES, DIM = 80, 120, 16
taste = torch.randn(USERS, 4)
flavour = torch.randn(RECIPES, 4)
liked = (taste @ flavour.t()).topk(12, dim=1).indices
held_out = liked[torch.arange(USERS), torch.randint(0, 12, (USERS,))]
pairs = [(u, i) for u in range(USERS) for i in liked[u].tolist() if i != held_out[u].item()]
pairs = torch.tensor(pairs)


class BPRModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, DIM)
        self.item = nn.Embedding(RECIPES, DIM)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1)

    def scores(self):
        return self.user.weight @ self.item.weight.t()


def hit_rate(model, k):
    with torch.no_grad():
        scores = model.scores()
        ranked = scores.argsort(dim=1)
        top = ranked[:, :k]
    return (top == held_out[:, None]).any(1).float().mean().item()


model = BPRModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(20):
    total = 0.0
    for batch in pairs[torch.randperm(len(pairs))].split(128):
        u, pos = batch[:, 0], batch[:, 1]
        neg = torch.randint(0, RECIPES, pos.shape)
        loss = -F.logsigmoid(model(u, pos) - model(u, neg)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} bpr {total / len(pairs):.4f} hit@20 {hit_rate(model, 20):.3f}")
