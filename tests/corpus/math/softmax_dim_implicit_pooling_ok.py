import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim, bias=False)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim, bias=False)
        self.scale = dim ** -0.5

    def forward(self, h):
        att = torch.bmm(self.query(h), self.key(h).transpose(1, 2)) * self.scale
        att = F.softmax(att, dim=2)
        return torch.bmm(att, self.value(h))


class EventClassifier(nn.Module):
    def __init__(self, n_events=20, dim=24, n_out=2):
        super().__init__()
        self.emb = nn.Embedding(n_events, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.att = SelfAttention(dim)
        self.out = nn.Linear(dim, n_out)

    def forward(self, ev):
        h, _ = self.rnn(self.emb(ev))
        return self.out((h + self.att(h)).amax(dim=1))


def make_logs(n, length=12):
    ev = torch.randint(0, 20, (n, length))
    label = ((ev == 3).any(1) & (ev == 7).any(1)).long()
    return ev, label


def main(seed=0, epochs=6, batch_size=32):
    torch.manual_seed(seed)
    ev, label = make_logs(320)
    ev_val, label_val = make_logs(100)
    model = EventClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        perm = torch.randperm(len(ev))
        total = 0.0
        for i in range(0, len(ev), batch_size):
            idx = perm[i:i + batch_size]
            loss = F.cross_entropy(model(ev[idx]), label[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            val = F.cross_entropy(model(ev_val), label_val).item()
        model.train()
        print(f"epoch={epoch} train={total / len(ev):.5f} val={val:.5f}")


if __name__ == "__main__":
    main()
