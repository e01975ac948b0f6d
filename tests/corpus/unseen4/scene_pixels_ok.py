import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(52)
C, S = 4, 16


def scenes(n):
    labels = torch.zeros(n, S, S, dtype=torch.long)
    for i in range(n):
        for k in range(1, C):
            r, c = torch.randint(0, S - 6, (2,)).tolist()
            labels[i, r:r + 6, c:c + 6] = k
    palette = torch.tensor([[0.1, 0.1, 0.1], [0.9, 0.2, 0.2], [0.2, 0.9, 0.2], [0.2, 0.2, 0.9]])
    images = palette[labels].permute(0, 3, 1, 2) + 0.15 * torch.randn(n, 3, S, S)
    return images, labels


class SceneNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.head = nn.Conv2d(16, C, 1)

    def forward(self, x):
        return self.head(self.body(x))


images, labels = scenes(200)
test_images, test_labels = scenes(50)
model = SceneNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    running = 0.0
    for idx in torch.randperm(200).split(10):
        logits = model(images[idx])
        flat = logits.permute(0, 2, 3, 1).reshape(-1, C)
        loss = criterion(flat, labels[idx].view(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    with torch.no_grad():
        acc = (model(test_images).argmax(1) == test_labels).float().mean().item()
    print(f"epoch {epoch}: loss {running / 20:.4f} pixel accuracy {acc:.3f}")
