"""A two-layer GCN on a made graph of four communities."""
import torch
import torch.nn.functional as F
from torch import nn


def make_graph(nodes, classes, generator):
    labels = torch.randint(0, classes, (nodes,), generator=generator)
    same = labels[:, None] == labels[None]
    chance = torch.where(same, 0.04, 0.01)
    upper = torch.triu(torch.rand(nodes, nodes, generator=generator) < chance, diagonal=1)
    adjacency = (upper | upper.T).float()
    features = torch.randn(nodes, 32, generator=generator) + 0.4 * F.one_hot(labels, 32).float()
    return adjacency, features, labels


def normalize(adjacency):
    with_loops = adjacency + torch.eye(len(adjacency))
    degree = with_loops.sum(1).rsqrt()
    return degree[:, None] * with_loops * degree[None]


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return adjacency @ (x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, features, hidden, classes, dropout=0.5):
        super().__init__()
        self.gc1 = GraphConvolution(features, hidden)
        self.gc2 = GraphConvolution(hidden, classes)
        self.dropout = dropout

    def forward(self, x, adjacency):
        x = F.relu(self.gc1(x, adjacency))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.gc2(x, adjacency), dim=1)


def accuracy(output, labels):
    return (output.argmax(1) == labels).float().mean().item()


def main():
    torch.manual_seed(42)
    adjacency, features, labels = make_graph(400, 4, torch.Generator().manual_seed(1))
    adjacency = normalize(adjacency)
    order = torch.randperm(400)
    idx_train, idx_val, idx_test = order[:80], order[80:200], order[200:]
    model = GCN(32, 16, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(80):
        model.train()
        optimizer.zero_grad()
        output = model(features, adjacency)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()
        if epoch % 20 == 19:
            model.eval()
            with torch.no_grad():
                output = model(features, adjacency)
            print(f"epoch {epoch} val {accuracy(output[idx_val], labels[idx_val]):.4f}")
    print(f"test {accuracy(output[idx_test], labels[idx_test]):.4f}")


main()
