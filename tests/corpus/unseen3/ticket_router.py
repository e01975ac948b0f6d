import random
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

random.seed(8)
torch.manual_seed(8)

TEAMS = ["billing", "login", "shipping"]
HINTS = {"billing": [1, 2, 3], "login": [4, 5, 6], "shipping": [7, 8, 9]}


def make_ticket():
    team = random.randrange(3)
    length = random.choice([4, 5, 6, 8, 90])
    tokens = [random.randrange(10, 120) for _ in range(length)]
    for pos in random.sample(range(min(length, 6)), 2) if length < 90 else range(85, 90):
        tokens[pos] = random.choice(HINTS[TEAMS[team]])
    return torch.tensor(tokens), team


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(120, 16, padding_idx=0)
        self.rnn = nn.RNN(16, 32, batch_first=True)
        self.head = nn.Linear(32, len(TEAMS))

    def forward(self, tokens, lengths):
        out, _ = self.rnn(self.emb(tokens))
        last = out[:, -1, :]
        return self.head(last)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss = nn.CrossEntropyLoss()

    @staticmethod
    def batches(tickets, size):
        for i in range(0, len(tickets), size):
            part = tickets[i:i + size]
            lengths = torch.tensor([len(t) for t, _ in part])
            yield pad_sequence([t for t, _ in part], batch_first=True), lengths, torch.tensor([y for _, y in part])

    def fit(self, tickets, epochs):
        for epoch in range(epochs):
            random.shuffle(tickets)
            losses = []
            for tokens, lengths, y in self.batches(tickets, 30):
                self.opt.zero_grad()
                loss = self.loss(self.model(tokens, lengths), y)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                losses.append(loss.item())
            print(f"epoch {epoch + 1}: {sum(losses) / len(losses):.4f}")

    @torch.no_grad()
    def score(self, tickets):
        ok = 0
        for tokens, lengths, y in self.batches(tickets, 50):
            ok += (self.model(tokens, lengths).argmax(1) == y).sum().item()
        return ok / len(tickets)


trainer = Trainer(Router(), 3e-3)
trainer.fit([make_ticket() for _ in range(600)], 8)
print("routing accuracy:", trainer.score([make_ticket() for _ in range(200)]))
