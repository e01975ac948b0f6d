import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(7)
d = load_digits()
X, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(6):
    total = 0.0
    for idx in torch.randperm(1400).split(70):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(X[idx])
            loss = nn.functional.cross_entropy(logits, y[idx])
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 20:.4f}")
model.eval()
with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
    pred = model(X[1400:]).argmax(1)
print("accuracy", (pred == y[1400:]).float().mean().item())


confusion = torch.zeros(10, 10, dtype=torch.long)
for t, p in zip(y[1400:].tolist(), pred.tolist()):
    confusion[t, p] += 1
recall = confusion.diag().float() / confusion.sum(1).clamp(min=1)
precision = confusion.diag().float() / confusion.sum(0).clamp(min=1)
for digit in range(10):
    print(f"digit {digit} recall {recall[digit]:.2f} precision {precision[digit]:.2f}")
with torch.inference_mode():
    full = model(X[1400:]).argmax(1)
print("agreement with float32", (full == pred).float().mean().item())
print("parameter dtype", next(model.parameters()).dtype)
