import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(12)
d = load_digits()
x = torch.tensor(d.data / 16, dtype=torch.float32)
y = torch.tensor(d.target)
perm = torch.randperm(len(x))
tr, te = perm[:1400], perm[1400:]
model = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for idx in tr[torch.randperm(len(tr))].split(64):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x[idx])
        loss = nn.functional.cross_entropy(logits.float(), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test acc {acc:.3f}")
