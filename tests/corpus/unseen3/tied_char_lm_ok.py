import torch
import torch.nn as nn

torch.manual_seed(5)
text = "the quick brown fox jumps over the lazy dog and runs back to the den " * 6
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])


class TiedLM(nn.Module):
    def __init__(self, n, d=32):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, n)
        self.out.weight = self.emb.weight

    def forward(self, x, h=None):
        o, h = self.rnn(self.emb(x), h)
        return self.out(o), h


model = TiedLM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
stream = data[: (len(data) - 1) // 4 * 4].view(4, -1)
for epoch in range(20):
    h = None
    for i in range(0, stream.size(1) - 1, 20):
        x = stream[:, i:i + 20]
        y = stream[:, i + 1:i + 21]
        x = x[:, : y.size(1)]
        if x.size(1) == 0:
            continue
        if h is not None:
            h = h.detach()
        logits, h = model(x, h)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {loss.item():.4f}")
