import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class CosineMargin(nn.Module):
    """Class prototypes on the sphere with an additive cosine margin."""

    def __init__(self, dim, classes, scale=12.0, margin=0.1):
        super().__init__()
        self.prototypes = nn.Parameter(torch.randn(classes, dim) / math.sqrt(dim))
        self.scale, self.margin = scale, margin

    def forward(self, emb, target):
        cos = F.normalize(emb, dim=1) @ F.normalize(self.prototypes, dim=1).t()
        cos = cos - self.margin * F.one_hot(target, cos.size(1))
        return F.cross_entropy(self.scale * cos, target)

    @torch.no_grad()
    def predict(self, emb):
        return (F.normalize(emb, dim=1) @ F.normalize(self.prototypes, dim=1).t()).argmax(1)


def main():
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    Xtr, Xte, ytr, yte = train_test_split(X / 16.0, y, test_size=0.2, random_state=1)
    Xtr, Xte = torch.tensor(Xtr).float(), torch.tensor(Xte).float()
    ytr, yte = torch.tensor(ytr), torch.tensor(yte)

    embedder = nn.Sequential(nn.Linear(64, 64), nn.PReLU(), nn.Linear(64, 16))
    margin_loss = CosineMargin(16, 10)
    optimizer = torch.optim.SGD(
        embedder.parameters(),
        lr=0.05, momentum=0.9)

    for epoch in range(4):
        embedder.train()
        for idx in torch.randperm(len(Xtr)).split(64):
            loss = margin_loss(embedder(Xtr[idx]), ytr[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        embedder.eval()
        with torch.no_grad():
            acc = (margin_loss.predict(embedder(Xte)) == yte).float().mean()
        print(f"epoch {epoch}  last loss {loss.item():.5f}  test acc {acc.item():.4f}")


main()
