import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score


class PairDataset(Dataset):
    def __init__(self, x, y, pairs, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = x
        self.left = torch.randint(len(x), (pairs,), generator=g)
        self.right = torch.randint(len(x), (pairs,), generator=g)
        # half of the pairs come from the same class
        for i in range(0, pairs, 2):
            alike = (y == y[self.left[i]]).nonzero().flatten()
            self.right[i] = alike[torch.randint(len(alike), (1,), generator=g)]
        self.same = y[self.left] == y[self.right]

    def __len__(self):
        return len(self.left)

    def __getitem__(self, i):
        label = 1.0 if self.same[i] else 0.0
        return self.x[self.left[i]], self.x[self.right[i]], torch.tensor(label)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, a, b):
        return self.embed(a), self.embed(b)


def pair_auc(model, dataset):
    model.eval()
    with torch.no_grad():
        a, b = model(dataset.x[dataset.left], dataset.x[dataset.right])
        score = nn.functional.cosine_similarity(a, b)
    return roc_auc_score(dataset.same.numpy(), score.numpy())


def main():
    torch.manual_seed(8)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    train = PairDataset(x[:1300], y[:1300], 3000, seed=0)
    test = PairDataset(x[1300:], y[1300:], 1000, seed=1)
    loader = DataLoader(train, batch_size=100, shuffle=True)
    model = Siamese()
    criterion = nn.CosineEmbeddingLoss(margin=0.2)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for a, b, label in loader:
            ea, eb = model(a, b)
            loss = criterion(ea, eb, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} pair AUC {pair_auc(model, test):.3f}")


if __name__ == "__main__":
    main()
