import torch, torch.nn as nn
from sklearn.datasets import make_multilabel_classification

torch.manual_seed(9)
X, Y = make_multilabel_classification(n_samples=500, n_features=15, n_classes=4, random_state=9)
X = torch.tensor(X, dtype=torch.float32) / 10 - 0.7
Y = torch.tensor(Y, dtype=torch.float32)
Xtr, Ytr, Xva, Yva = X[:400], Y[:400], X[400:], Y[400:]

tagger = nn.Sequential(nn.Linear(15, 32), nn.LeakyReLU(), nn.Linear(32, 4))
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(tagger.parameters(), lr=1e-2)


def f1(scores, truth):
    hit = torch.round(torch.sigmoid(scores)).clamp(0, 1)
    tp = (hit * truth).sum()
    return (2 * tp / (hit.sum() + truth.sum() + 1e-9)).item()


for epoch in range(8):
    tagger.train()
    perm = torch.randperm(400)
    for i in range(0, 400, 40):
        sel = perm[i:i + 40]
        scores = tagger(Xtr[sel])
        loss = bce(scores, Ytr[sel])
        opt.zero_grad()
        loss.backward()
        opt.step()
    tagger.eval()
    with torch.no_grad():
        val_scores = tagger(Xva)
        print('epoch', epoch, 'train', f'{loss.item():.5f}', 'val', f'{bce(val_scores, Yva).item():.5f}', 'f1', f'{f1(val_scores, Yva):.4f}')
