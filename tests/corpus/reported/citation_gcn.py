import torch
import torch.nn as nn
import torch.nn.functional as F


def block_graph(nodes=300, classes=3, features=40, seed=0):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(classes, (nodes,), generator=g)
    same = label.unsqueeze(0) == label.unsqueeze(1)
    probability = torch.where(same, 0.04, 0.008)
    upper = torch.triu(torch.rand(nodes, nodes, generator=g) < probability, diagonal=1)
    adjacency = (upper | upper.t()).float()
    x = torch.randn(nodes, features, generator=g)
    x[torch.arange(nodes), label] += 1.8
    order = torch.randperm(nodes, generator=g)
    train_mask = torch.zeros(nodes, dtype=torch.bool)
    train_mask[order[:90]] = True
    return x, adjacency, label, train_mask


def normalize(adjacency):
    a = adjacency + torch.eye(len(adjacency))
    d = a.sum(dim=1).rsqrt()
    return d.unsqueeze(1) * a * d.unsqueeze(0)


class GCN(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.lin1 = nn.Linear(features, hidden)
        self.lin2 = nn.Linear(hidden, classes)

    def forward(self, x, a):
        x = F.relu(a @ self.lin1(x))
        x = F.dropout(x, 0.2, training=self.training)
        return a @ self.lin2(x)


def main():
    torch.manual_seed(0)
    x, adjacency, label, train_mask = block_graph()
    a = normalize(adjacency)
    test_mask = ~train_mask
    model = GCN(x.size(1), 48, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(1, 101):
        model.train()
        optimizer.zero_grad()
        out = model(x, a)
        loss = F.cross_entropy(out, label)
        loss.backward()
        optimizer.step()
        if epoch % 25 == 0:
            model.eval()
            with torch.no_grad():
                hit = model(x, a).argmax(dim=1) == label
            train_acc, test_acc = hit[train_mask].float().mean().item(), hit[test_mask].float().mean().item()
            print(f"epoch {epoch} loss {loss.item():.3f} train {train_acc:.3f} test {test_acc:.3f}")


if __name__ == "__main__":
    main()
