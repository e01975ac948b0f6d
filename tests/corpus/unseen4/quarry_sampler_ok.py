import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(90)
counts = [900, 250, 100, 50]
centers = torch.randn(4, 10) * 1.3
labels = torch.cat([torch.full((c,), k) for k, c in enumerate(counts)])
labels = labels[torch.randperm(len(labels))]
rocks = centers[labels] + torch.randn(len(labels), 10)
n_train = 1000
train_set = TensorDataset(rocks[:n_train], labels[:n_train])
x_val, y_val = rocks[n_train:], labels[n_train:]

class_count = torch.bincount(labels[:n_train], minlength=4)
class_weight = 1.0 / class_count.float()
print("class weights", class_weight.tolist())
sampler = WeightedRandomSampler(class_weight[labels[:n_train]], num_samples=n_train, replacement=True)
loader = DataLoader(train_set, batch_size=50, sampler=sampler)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    with torch.no_grad():
        pred = model(x_val).argmax(1)
    recalls = [(pred[y_val == k] == k).float().mean().item() for k in range(4)]
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {running / len(loader):.4f} recalls {[round(r, 2) for r in recalls]}")
