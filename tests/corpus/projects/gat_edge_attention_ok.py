"""Graph attention over edge lists, written with index_add."""
import torch
import torch.nn.functional as F
from torch import nn


class GATLayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.project = nn.Linear(inputs, outputs, bias=False)
        self.source = nn.Linear(outputs, 1, bias=False)
        self.target = nn.Linear(outputs, 1, bias=False)

    def forward(self, x, edges):
        src, dst = edges
        h = self.project(x)
        scores = F.leaky_relu(self.source(h)[src] + self.target(h)[dst], 0.2).squeeze(1)
        weights = torch.exp(scores - scores.max())
        norm = torch.zeros(len(x)).index_add(0, dst, weights)
        weights = weights / (norm[dst] + 1e-9)
        return torch.zeros_like(h).index_add(0, dst, weights.unsqueeze(1) * h[src])


class Net(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.layer1 = GATLayer(features, 24)
        self.layer2 = GATLayer(24, classes)

    def forward(self, x, edges):
        x = F.elu(self.layer1(x, edges))
        return F.log_softmax(self.layer2(x, edges), dim=1)


def make_data(nodes=300, classes=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (nodes,), generator=generator)
    pairs = torch.randint(0, nodes, (2, 9000), generator=generator)
    kept = (labels[pairs[0]] == labels[pairs[1]]) | (torch.rand(9000, generator=generator) < 0.1)
    pairs = pairs[:, kept]
    loops = torch.arange(nodes).repeat(2, 1)
    edges = torch.cat([pairs, pairs.flip(0), loops], dim=1)
    features = torch.randn(nodes, 16, generator=generator)
    features[:, :classes] += F.one_hot(labels, classes)
    return features, edges, labels


def main():
    torch.manual_seed(3)
    features, edges, labels = make_data()
    train = torch.arange(300) < 150
    model = Net(16, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-3)
    for epoch in range(60):
        optimizer.zero_grad()
        output = model(features, edges)
        loss = F.nll_loss(output[train], labels[train])
        loss.backward()
        optimizer.step()
        if epoch % 20 == 19:
            hits = output.argmax(1) == labels
            print(f"epoch {epoch} loss {loss.item():.4f} test {hits[~train].float().mean():.4f}")


if __name__ == "__main__":
    main()
