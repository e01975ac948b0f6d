import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(14)
d = load_digits()
X, y = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1), torch.tensor(d.target)
model = nn.Sequential(nn.Conv2d(1, 12, 3), nn.GroupNorm(3, 12), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                      nn.Dropout(0.2), nn.Linear(108, 10))
train_loss = nn.CrossEntropyLoss(label_smoothing=0.1)
val_loss = nn.CrossEntropyLoss()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
steps = 6 * 22
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-2, total_steps=steps)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(1408).split(64):
        opt.zero_grad()
        loss = train_loss(model(X[idx]), y[idx])
        loss.backward()
        opt.step()
        sched.step()
    model.eval()
    with torch.no_grad():
        out = model(X[1408:])
    print(f"epoch {epoch} train {loss.item():.4f} val {val_loss(out, y[1408:]).item():.4f} "
          f"acc {(out.argmax(1) == y[1408:]).float().mean():.3f} lr {sched.get_last_lr()[0]:.5f}")


model.eval()
with torch.no_grad():
    probs = torch.softmax(model(X[1408:]), dim=1)
confidence, pred = probs.max(1)
right = pred == y[1408:]
print(f"mean confidence {confidence.mean():.3f} when right {confidence[right].mean():.3f}")
bins = torch.linspace(0, 1, 6)
for lo, hi in zip(bins[:-1], bins[1:]):
    inside = (confidence > lo) & (confidence <= hi)
    if inside.any():
        print(f"  ({lo:.1f}, {hi:.1f}] n={int(inside.sum())} accuracy {right[inside].float().mean():.3f}")
