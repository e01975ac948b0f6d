import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
pts, lab = make_moons(n_samples=640, noise=0.15, random_state=0)
pts, lab = torch.tensor(pts, dtype=torch.float32), torch.tensor(lab)
train_loader = DataLoader(TensorDataset(pts[:512], lab[:512]), batch_size=32)
test_x, test_y = pts[512:], lab[512:]

model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
max_steps = 100
for step in range(max_steps):
    x, y = next(iter(train_loader))
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    if (step + 1) % 25 == 0:
        with torch.no_grad():
            acc = (model(test_x).argmax(1) == test_y).float().mean().item()
        print(f"step {step + 1} loss {loss.item():.6f} test acc {acc:.4f}")
