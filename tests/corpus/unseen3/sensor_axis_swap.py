import torch
import torch.nn as nn

torch.manual_seed(16)
TIME, FEATS = 10, 3


def record(batch):
    """Loggers deliver time-major arrays."""
    x = 0.3 * torch.randn(TIME, batch, FEATS)
    label = torch.randint(0, 3, (batch,))
    for i in range(batch):
        at = int(torch.randint(0, TIME, (1,)))
        x[at, i, label[i]] += 2.0
    return x, label


class FaultDetector(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(FEATS, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 3)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])


def prepare(x):
    t, b, f = x.shape
    return x.view(b, t, f)


model = FaultDetector()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(160):
    x, label = record(32)
    logits = model(prepare(x))
    loss = nn.functional.cross_entropy(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")

model.eval()
with torch.no_grad():
    x, label = record(300)
    print(f"accuracy {(model(prepare(x)).argmax(1) == label).float().mean():.3f}")
