import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression


def augment(x):
    noisy = x + 0.15 * torch.randn_like(x)
    keep = (torch.rand_like(x) > 0.2).float()
    return noisy * keep


class Encoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, dim))
        self.projection = nn.Sequential(nn.ReLU(), nn.Linear(dim, 16))

    def forward(self, x):
        return F.normalize(self.projection(self.backbone(x)), dim=1)


def nt_xent(z1, z2, temperature=0.2):
    n = z1.size(0)
    z = torch.cat([z1, z2], dim=0)
    logits = z @ z.t() / temperature
    targets = torch.arange(2 * n).roll(n)
    return F.cross_entropy(logits, targets)


def linear_probe(encoder, x_train, y_train, x_test, y_test):
    encoder.eval()
    with torch.no_grad():
        train = encoder.backbone(x_train).numpy()
        test = encoder.backbone(x_test).numpy()
    probe = LogisticRegression(max_iter=300).fit(train, y_train)
    return probe.score(test, y_test)


def main():
    torch.manual_seed(1)
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x, dtype=torch.float32) / 16
    x_train, y_train, x_test, y_test = x[:1400], y[:1400], x[1400:], y[1400:]
    encoder = Encoder()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for epoch in range(1, 13):
        encoder.train()
        total, batches = 0.0, 0
        for idx in torch.randperm(len(x_train)).split(128):
            loss = nt_xent(encoder(augment(x_train[idx])), encoder(augment(x_train[idx])))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, batches = total + loss.item(), batches + 1
        if epoch % 4 == 0:
            print(f"epoch {epoch} contrastive loss {total / batches:.3f}")
    print("linear probe accuracy %.3f" % linear_probe(encoder, x_train, y_train, x_test, y_test))


if __name__ == "__main__":
    main()
