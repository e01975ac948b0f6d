import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
order = torch.randperm(len(images))
train_idx, test_idx = order[:1000], order[1000:1300]


class LeNetish(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, kernel_size=3)
        self.conv2 = nn.Conv2d(8, 16, kernel_size=3)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


model = LeNetish()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5, weight_decay=1.0)

for epoch in range(4):
    model.train()
    total = 0.0
    shuffled = train_idx[torch.randperm(len(train_idx))]
    for batch in shuffled.split(50):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    model.eval()
    with torch.no_grad():
        correct = (model(images[test_idx]).argmax(1) == labels[test_idx]).float().mean().item()
    print(f"epoch {epoch}  loss {total / len(train_idx):.5f}  acc {correct:.4f}")
