import torch
import torch.nn as nn

TEXT = ("an old silent pond a frog jumps into the pond splash silence again "
        "autumn moonlight a worm digs silently into the chestnut "
        "in the twilight rain these brilliant hued hibiscus a lovely sunset ") * 4
chars = sorted(set(TEXT))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
data = torch.tensor([stoi[c] for c in TEXT])


class CharGRU(nn.Module):
    def __init__(self, n, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(n, 24)
        self.gru = nn.GRU(24, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, n)

    def forward(self, x, h=None):
        out, h = self.gru(self.emb(x), h)
        return self.fc(out), h


def get_batch(batch_size=24, block=30):
    ix = torch.randint(len(data) - block - 1, (batch_size,))
    x = torch.stack([data[i:i + block] for i in ix])
    y = torch.stack([data[i + 1:i + block + 1] for i in ix])
    return x, y


def generate(model, prompt, n):
    model.eval()
    out = list(prompt)
    with torch.no_grad():
        logits, h = model(torch.tensor([[stoi[c] for c in prompt]]))
        for _ in range(n):
            nxt = logits[0, -1].argmax().item()
            out.append(itos[nxt])
            logits, h = model(torch.tensor([[nxt]]), h)
    return "".join(out)


torch.manual_seed(42)
model = CharGRU(len(chars))
optim = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()
for step in range(200):
    x, y = get_batch()
    logits, _ = model(x)
    loss = loss_fn(logits.flatten(0, 1), y.flatten())
    optim.zero_grad()
    loss.backward()
    optim.step()
    if step % 40 == 0:
        print(f"{step:4d} loss={loss.item():.4f}")
print("sample:", generate(model, "an old ", 60))
