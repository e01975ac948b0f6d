import torch
import torch.nn as nn

torch.manual_seed(31)

TASKS = {"comfort": 3, "noise": 4, "draft": 2}


class SharedTrunk(nn.Module):
    def __init__(self, n_in=12, width=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(width, n) for name, n in TASKS.items()})

    def forward(self, x):
        z = self.trunk(x)
        return {name: head(z) for name, head in self.heads.items()}


def sensors(n):
    g = torch.Generator().manual_seed(77)
    x = torch.randn(n, 12)
    labels = {name: (x @ torch.randn(12, k, generator=g)).argmax(1) for name, k in TASKS.items()}
    return x, labels


x_train, y_train = sensors(800)
x_val, y_val = sensors(300)
model = SharedTrunk()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
weights = {"comfort": 1.0, "noise": 1.0, "draft": 0.5}

for epoch in range(12):
    model.train()
    order = torch.randperm(len(x_train))
    for idx in order.split(50):
        out = model(x_train[idx])
        loss = 0.0
        for name in TASKS:
            task_loss = nn.functional.cross_entropy(out[name], y_train[name][idx])
            loss = weights[name] * task_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    out = model(x_val)
for name in TASKS:
    acc = (out[name].argmax(1) == y_val[name]).float().mean().item()
    print(f"{name:8s} accuracy {acc:.3f}")
