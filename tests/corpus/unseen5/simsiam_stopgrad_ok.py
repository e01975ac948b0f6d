"""SimSiam: negative cosine loss with stop-gradient targets, kNN monitor."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class SimSiam(nn.Module):
    def __init__(self, dim=48, pred=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(),
            nn.Linear(96, dim), nn.BatchNorm1d(dim, affine=False),
        )
        self.predictor = nn.Sequential(nn.Linear(dim, pred), nn.BatchNorm1d(pred), nn.ReLU(), nn.Linear(pred, dim))

    def forward(self, x1, x2):
        z1, z2 = self.encoder(x1), self.encoder(x2)
        return self.predictor(z1), self.predictor(z2), z1.detach(), z2.detach()


def augment(x):
    img = x.view(-1, 8, 8)
    shift = int(torch.randint(-1, 2, (1,)))
    img = torch.roll(img, shift, dims=int(torch.randint(1, 3, (1,))))
    mask = (torch.rand_like(img) > 0.15).float()
    return (img * mask).flatten(1) + 0.05 * torch.randn_like(x)


def knn(model, bank, bank_y, query, query_y):
    model.eval()
    with torch.no_grad():
        a, b = F.normalize(model.encoder(bank), dim=1), F.normalize(model.encoder(query), dim=1)
    model.train()
    return (bank_y[(b @ a.t()).argmax(1)] == query_y).float().mean().item()


torch.manual_seed(6)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
model = SimSiam()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(10):
    total, batches = 0.0, 0
    for idx in torch.randperm(1400).split(128)[:-1]:
        p1, p2, z1, z2 = model(augment(x[idx]), augment(x[idx]))
        loss = -0.5 * (F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total, batches = total + loss.item(), batches + 1
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {total / batches:.4f} kNN {knn(model, x[:1400], y[:1400], x[1400:], y[1400:]):.4f}")
