import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2024)
N_TAGS = 6
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

W = torch.randn(20, N_TAGS)
posts = torch.randn(600, 20)
tags = (posts @ W / 20 ** 0.5 > 0.3).float()      # a post may have none, one or several tags

train = TensorDataset(posts[:480], tags[:480])
valid = TensorDataset(posts[480:], tags[480:])
train_loader = DataLoader(train, batch_size=48, shuffle=True)
valid_loader = DataLoader(valid, batch_size=120)

model = nn.Sequential(
    nn.Linear(20, 40),
    nn.ReLU(),
    nn.Linear(40, N_TAGS),
).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)

for epoch in range(10):
    model.train()
    total = 0.0
    for x, t in train_loader:
        x, t = x.to(device), t.to(device)
        logits = model(x)
        loss = criterion(logits, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        val_loss = sum(criterion(model(x.to(device)), t.to(device)).item() for x, t in valid_loader)
    print(f"epoch {epoch:2d} train {total / len(train_loader):.6f} valid {val_loss / len(valid_loader):.6f}")
