import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch import nn


def augment(x):
    keep = (torch.rand_like(x) > 0.15).float()
    shift = torch.randint(-1, 2, (1,)).item()
    shifted = x.view(-1, 8, 8).roll(shift, dims=2).reshape(len(x), 64)
    return shifted * keep + 0.05 * torch.randn_like(x)


def nt_xent(first, second, temperature=0.5):
    views = F.normalize(torch.cat([first, second]), dim=1)
    similarity = views @ views.t() / temperature
    count = len(first)
    positive = torch.cat([torch.arange(count) + count, torch.arange(count)])
    return F.cross_entropy(similarity, positive)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 32))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        return self.projector(self.body(x))


def main():
    torch.manual_seed(75)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32) / 16
    train, test = x[:1300], x[1300:]
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        total = 0.0
        chunks = torch.randperm(len(train)).split(130)
        for rows in chunks:
            loss = nt_xent(model(augment(train[rows])), model(augment(train[rows])))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(chunks):.4f}")
    model.eval()
    with torch.no_grad():
        inside, outside = model.body(train).numpy(), model.body(test).numpy()
    probe = KNeighborsClassifier(5).fit(inside, y[:1300])
    print(f"nearest neighbour accuracy {probe.score(outside, y[1300:]):.3f}")


if __name__ == "__main__":
    main()
