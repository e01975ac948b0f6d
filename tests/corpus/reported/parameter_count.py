"""Learn to compare two numbers with an embedding MLP."""
import torch
from torch import nn

P = 13


class CompareNet(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Embedding(P, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 96), nn.ReLU(), nn.Linear(96, 2))

    def forward(self, pairs):
        return self.mlp(self.embed(pairs).flatten(1))


def table():
    a, b = torch.meshgrid(torch.arange(P), torch.arange(P), indexing="ij")
    pairs = torch.stack([a.flatten(), b.flatten()], dim=1)
    return pairs, (pairs[:, 0] > pairs[:, 1]).long()


def main():
    torch.manual_seed(38)
    pairs, larger = table()
    order = torch.randperm(len(pairs))
    train, test = order[:135], order[135:]
    model = CompareNet()
    params = model.parameters()
    count = sum(p.numel() for p in params)
    print(f"{count} parameters")
    optimizer = torch.optim.AdamW(params, lr=5e-3, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss()
    for step in range(300):
        optimizer.zero_grad()
        loss = criterion(model(pairs[train]), larger[train])
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            with torch.no_grad():
                accuracy = (model(pairs[test]).argmax(1) == larger[test]).float().mean().item()
            print(f"step {step + 1} loss {loss.item():.4f} test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
