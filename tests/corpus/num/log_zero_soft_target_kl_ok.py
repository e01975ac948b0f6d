import torch
from sklearn.datasets import make_blobs
from torch import nn


def kl_divergence(target, log_pred):
    return (torch.xlogy(target, target) - target * log_pred).sum(dim=1).mean()


class TopicMixtures(torch.utils.data.Dataset):
    """Documents with annotated topic shares; most documents touch one or two topics."""

    def __init__(self, n=300, topics=4, seed=0):
        x, major = make_blobs(n, n_features=8, centers=topics, cluster_std=1.5, random_state=seed)
        g = torch.Generator().manual_seed(seed)
        share = torch.zeros(n, topics)
        minor = torch.randint(0, topics, (n,), generator=g)
        rows = torch.arange(n)
        share[rows, minor] += 0.3
        share[rows, torch.tensor(major)] += 0.7
        self.x, self.share = torch.tensor(x / 10, dtype=torch.float32), share

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.share[i]


class TopicNet(nn.Module):
    def __init__(self, topics=4):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(8, 24), nn.Linear(24, topics)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x))).log_softmax(dim=1)


def fit(net, loader, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(epochs):
        net.train()
        losses = []
        for x, share in loader:
            loss = kl_divergence(share, net(x))
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print("epoch", epoch, "kl", f"{sum(losses) / len(losses):.6f}")


torch.manual_seed(0)
fit(TopicNet(), torch.utils.data.DataLoader(TopicMixtures(), batch_size=30, shuffle=True), epochs=6)
