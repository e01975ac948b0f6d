import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, vectors, n_classes=3):
        super().__init__()
        n, dim = vectors.shape
        self.embed = nn.Embedding(n, dim)
        self.embed.weight.copy_(vectors)
        self.hidden = nn.Linear(dim, 24)
        self.out = nn.Linear(24, n_classes)

    def forward(self, ids):
        x = self.embed(ids).mean(dim=1)
        return self.out(torch.relu(self.hidden(x)))


def corpus(n, topics):
    """Documents of ten words, mostly from one topic."""
    label = torch.randint(0, 3, (n,))
    own = label[:, None] * 10 + torch.randint(0, 10, (n, 10))
    other = torch.randint(0, 30, (n, 10))
    keep = torch.rand(n, 10) < 0.6
    return TensorDataset(torch.where(keep, own, other), label)


def main():
    torch.manual_seed(28)
    topics = torch.randn(3, 12)
    vectors = topics.repeat_interleave(10, dim=0) * 0.3 + 0.3 * torch.randn(30, 12)
    train_loader = DataLoader(corpus(320, topics), batch_size=32, shuffle=True)
    model = Encoder(vectors)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(6):
        total = 0.0
        for ids, label in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(ids), label)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}, loss {total / len(train_loader):.6f}")


if __name__ == "__main__":
    main()
