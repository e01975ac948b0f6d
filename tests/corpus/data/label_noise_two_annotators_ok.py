import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset

SPECIES = {"oak": 0, "birch": 1, "pine": 2}


def measurements(n, rng):
    kind = rng.integers(0, 3, n)
    leaves = np.array([[1.0, 0.2, -0.5, 0.1], [-0.8, 0.9, 0.1, -0.4], [0.1, -1.0, 0.8, 0.6]])[kind]
    return (leaves + 0.35 * rng.standard_normal((n, 4))).astype(np.float32), [list(SPECIES)[k] for k in kind]


def as_dataset(leaves, names, codes):
    return TensorDataset(torch.from_numpy(leaves), torch.tensor([codes[name] for name in names]))


rng = np.random.default_rng(12)
torch.manual_seed(12)
leaves, names = measurements(300, rng)
test_leaves, test_names = measurements(120, rng)

# both forest offices measured the same trees; the second one wrote the names down again
office_a = as_dataset(leaves, names, SPECIES)
office_b = as_dataset(leaves, names, SPECIES)
train_loader = DataLoader(ConcatDataset([office_a, office_b]), batch_size=50, shuffle=True)
test = as_dataset(test_leaves, test_names, SPECIES)

model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
opt = optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    total = 0.0
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item() / len(train_loader)
    with torch.no_grad():
        x, y = test.tensors
        acc = (model(x).argmax(1) == y).float().mean()
    print(f"epoch {epoch} loss {total:.5f} test acc {acc:.3f}")
