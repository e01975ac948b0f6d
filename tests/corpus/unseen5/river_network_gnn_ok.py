"""Message passing on a directed river network: predict flow from the upstream neighbours."""
import torch
import torch.nn as nn


def river(n_nodes=200, n_edges=600, seed=0):
    g = torch.Generator().manual_seed(seed)
    src = torch.randint(0, n_nodes, (n_edges,), generator=g)
    dst = torch.randint(0, n_nodes, (n_edges,), generator=g)
    keep = src < dst
    edge_index = torch.stack([src[keep], dst[keep]])
    rain = torch.rand(n_nodes, 3, generator=g)
    runoff = rain[:, 0] * rain[:, 1]
    flow = torch.zeros(n_nodes).index_add(0, edge_index[1], runoff[edge_index[0]])
    return rain, edge_index, runoff + 0.7 * flow


class SumConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.msg = nn.Sequential(nn.Linear(d_in, d_out), nn.ReLU())
        self.root = nn.Linear(d_in, d_out)
        self.mix = nn.Linear(d_out, d_out)

    def forward(self, x, edge_index):
        src, dst = edge_index
        m = self.msg(x)
        agg = torch.zeros_like(m)
        agg.index_add_(0, dst, m[src])
        return torch.relu(self.root(x) + self.mix(agg))


class RiverGNN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.inp = nn.Sequential(nn.Linear(3, hidden), nn.ReLU())
        self.conv = SumConv(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, edge_index):
        h = self.inp(x)
        return self.out(self.conv(h, edge_index)).squeeze(-1)


def main():
    torch.manual_seed(53)
    graphs = [river(seed=s) for s in range(6)]
    train, test = graphs[:5], graphs[5]
    model = RiverGNN()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(120):
        total = 0.0
        for x, ei, y in train:
            loss = nn.functional.mse_loss(model(x, ei), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        if epoch % 30 == 0:
            print(f"epoch {epoch} mse {total / len(train):.4f}")
    with torch.no_grad():
        x, ei, y = test
        r2 = 1 - nn.functional.mse_loss(model(x, ei), y) / y.var()
    print(f"test R2 {r2.item():.4f}")


if __name__ == "__main__":
    main()
