import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

x = torch.randn(640, 12)
w = torch.randn(12, 4)
y = (x @ w + 0.3 * (x ** 2) @ w.roll(1, 0)).argmax(dim=1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)

epochs, grad_accum, warmup = 4, 4, 4
total_updates = epochs * len(loader) // grad_accum


def linear_with_warmup(step):
    if step < warmup:
        return (step + 1) / warmup
    return max(0.0, (total_updates - step) / (total_updates - warmup))


model = nn.Sequential(nn.Linear(12, 64), nn.GELU(), nn.Linear(64, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = LambdaLR(optimizer, linear_with_warmup)

for epoch in range(epochs):
    epoch_loss = 0.0
    for step, (xb, yb) in enumerate(loader):
        xb, yb = xb.to(device), yb.to(device)
        loss = nn.functional.cross_entropy(model(xb), yb)
        (loss / grad_accum).backward()
        epoch_loss += loss.item()
        if (step + 1) % grad_accum == 0:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}: loss {epoch_loss / len(loader):.5f} lr {scheduler.get_last_lr()[0]:.6f}")
