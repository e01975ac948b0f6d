import numpy as np
import torch
import torch.nn as nn
from sklearn.preprocessing import LabelEncoder, StandardScaler

SPECIES = ["amanita", "boletus", "chanterelle", "hydnum", "morchella", "russula"]


def collect(n, seed, available):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(99).normal(0, 2.2, (len(SPECIES), 8))
    idx = rng.choice([SPECIES.index(a) for a in available], n)
    feats = centers[idx] + rng.normal(0, 1.0, (n, 8))
    return feats, np.array(SPECIES)[idx]


def train(model, x, y, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        perm = torch.randperm(len(x))
        for chunk in perm.split(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[chunk]), y[chunk])
            loss.backward()
            optimizer.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")


def main():
    torch.manual_seed(1)
    train_x, train_names = collect(600, seed=1, available=SPECIES)
    # the test season comes from a forest where no chanterelle grows
    test_x, test_names = collect(200, seed=2, available=[s for s in SPECIES if s != "chanterelle"])

    scaler = StandardScaler()
    train_x = torch.tensor(scaler.fit_transform(train_x), dtype=torch.float32)
    test_x = torch.tensor(scaler.transform(test_x), dtype=torch.float32)

    encoder = LabelEncoder()
    train_y = torch.from_numpy(encoder.fit_transform(train_names)).long()
    test_y = torch.from_numpy(encoder.transform(test_names)).long()

    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, len(SPECIES)))
    train(model, train_x, train_y, epochs=30, lr=5e-3)

    model.eval()
    with torch.no_grad():
        acc_train = (model(train_x).argmax(1) == train_y).float().mean().item()
        acc_test = (model(test_x).argmax(1) == test_y).float().mean().item()
    print(f"train acc {acc_train:.3f} test acc {acc_test:.3f}")


if __name__ == "__main__":
    main()
