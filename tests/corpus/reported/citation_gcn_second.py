import torch
import torch.nn.functional as F
from torch import nn


def communities(nodes=240, groups=3, seed=65):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(nodes) % groups
    same = labels[:, None] == labels[None, :]
    chance = torch.where(same, 0.05, 0.015)
    upper = (torch.rand(nodes, nodes, generator=generator) < chance).triu(1).float()
    features = 0.4 * F.one_hot(labels, groups).float().repeat(1, 4)
    features = features + torch.randn(nodes, 4 * groups, generator=generator)
    return upper + upper.t(), features, labels, torch.randperm(nodes, generator=generator)


def normalise(adjacency):
    adjacency = adjacency + torch.eye(len(adjacency))
    scale = adjacency.sum(dim=1).rsqrt()
    return scale[:, None] * adjacency * scale[None, :]


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(0.3)

    def forward(self, graph, x):
        x = self.dropout(F.relu(graph @ self.first(x)))
        return graph @ self.second(x)


def main():
    torch.manual_seed(65)
    adjacency, features, labels, order = communities()
    graph = normalise(adjacency)
    train_mask = torch.zeros(len(labels), dtype=torch.bool)
    train_mask[order[:60]] = True
    test_mask = torch.zeros(len(labels), dtype=torch.bool)
    test_mask[order[120:]] = True
    model = GCN(features.size(1), 32, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(80):
        model.train()
        logits = model(graph, features)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        predicted = model(graph, features).argmax(dim=1)
    accuracy = (predicted[test_mask] == labels[test_mask]).float().mean().item()
    print(f"train loss {loss.item():.4f} test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
