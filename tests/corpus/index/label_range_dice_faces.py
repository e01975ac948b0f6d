import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)

LAYOUT = {
    1: [(1, 1)],
    2: [(0, 0), (2, 2)],
    3: [(0, 0), (1, 1), (2, 2)],
    4: [(0, 0), (0, 2), (2, 0), (2, 2)],
    5: [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)],
    6: [(0, 0), (0, 2), (1, 0), (1, 2), (2, 0), (2, 2)],
}


def roll(n):
    faces = torch.randint(1, 7, (n,))
    pics = 0.25 * torch.randn(n, 3, 3)
    for i, f in enumerate(faces.tolist()):
        for r, c in LAYOUT[f]:
            pics[i, r, c] += 1.0
    return pics.flatten(1), faces


pics, faces = roll(480)
test_pics, test_faces = roll(120)
loader = DataLoader(TensorDataset(pics, faces), batch_size=40, shuffle=True)

net = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 6))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(8):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        guess = net(test_pics).argmax(1)
        acc = (guess == test_faces).float().mean()
    print(f"epoch {epoch} last batch {loss.item():.5f} test acc {acc:.4f}")
