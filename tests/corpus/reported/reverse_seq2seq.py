"""Learn to reverse short token sequences with an encoder and a decoder."""
import torch
from torch import nn
from torch.nn import functional as F

VOCAB, LENGTH, START = 12, 6, 0


def make_batch(n):
    source = torch.randint(1, VOCAB, (n, LENGTH))
    return source, source.flip(1)


class Seq2Seq(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 16)
        self.encoder = nn.GRU(16, hidden, batch_first=True)
        self.decoder = nn.GRUCell(16, hidden)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, source, target=None, forcing=1.0):
        _, state = self.encoder(self.embed(source))
        state = state[0]
        token = torch.full((len(source),), START)
        logits = []
        for t in range(LENGTH):
            state = self.decoder(self.embed(token), state)
            step = self.out(state)
            logits.append(step)
            token = step.argmax(dim=1)
            if target is not None and torch.rand(()).item() < forcing:
                token = target[:, t]
        return torch.stack(logits, dim=1)


def evaluate(model, n=300):
    model.eval()
    source, target = make_batch(n)
    with torch.no_grad():
        predicted = model(source, target).argmax(dim=-1)
    exact = (predicted == target).all(dim=1).float().mean().item()
    return (predicted == target).float().mean().item(), exact


def main():
    torch.manual_seed(0)
    model = Seq2Seq()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(1, 241):
        model.train()
        source, target = make_batch(64)
        logits = model(source, target, forcing=1.0)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 80 == 0:
            token, exact = evaluate(model)
            print(f"step {step} loss {loss.item():.3f} token accuracy {token:.3f} whole sequence {exact:.3f}")


if __name__ == "__main__":
    main()
