import torch
import torch.nn as nn

torch.manual_seed(7)
corpus = "hello world how are you hello again world of words you are how world " * 10
symbols = sorted(set(corpus))
index = {s: k for k, s in enumerate(symbols)}
stream = torch.tensor([index[s] for s in corpus])


class Bigramish(nn.Module):
    def __init__(self, context=3, dim=10):
        super().__init__()
        self.context = context
        self.emb = nn.Embedding(len(symbols), dim)
        self.body = nn.Sequential(nn.Linear(context * dim, 48), nn.Tanh(), nn.Linear(48, len(symbols)))

    def forward(self, x):
        return self.body(self.emb(x).flatten(1))


def sample(model, n=30):
    torch.set_grad_enabled(False)
    model.eval()
    ids = stream[:model.context].tolist()
    for _ in range(n):
        logits = model(torch.tensor([ids[-model.context:]]))
        ids.append(int(logits.argmax(-1)))
    model.train()
    return "".join(symbols[i] for i in ids)


model = Bigramish()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.CrossEntropyLoss()
positions = torch.arange(model.context, len(stream))
for step in range(1, 91):
    pos = positions[torch.randint(0, len(positions), (64,))]
    x = torch.stack([stream[pos - k] for k in range(model.context, 0, -1)], dim=1)
    loss = loss_fn(model(x), stream[pos])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(step, f"{loss.item():.5f}", repr(sample(model)))
