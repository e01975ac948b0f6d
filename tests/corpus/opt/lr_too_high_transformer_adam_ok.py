import torch
import torch.nn as nn

CFG = dict(vocab=16, dim=32, heads=4, layers=2, length=12, lr=2e-3, steps=60, batch=32, seed=3)


class CausalLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok = nn.Embedding(c["vocab"], c["dim"])
        self.pos = nn.Embedding(c["length"], c["dim"])
        block = nn.TransformerEncoderLayer(c["dim"], c["heads"], 2 * c["dim"], dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, c["layers"], enable_nested_tensor=False)
        self.head = nn.Linear(c["dim"], c["vocab"])
        mask = torch.triu(torch.ones(c["length"], c["length"], dtype=torch.bool), diagonal=1)
        self.register_buffer("mask", mask)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        return self.head(self.blocks(x, mask=self.mask))


def get_batch(c, gen):
    a = torch.randint(0, c["vocab"], (c["batch"], 2), generator=gen)
    seq = [a[:, 0], a[:, 1]]
    for _ in range(c["length"] - 1):
        seq.append((seq[-1] + seq[-2]) % c["vocab"])
    seq = torch.stack(seq, dim=1)
    return seq[:, :-1], seq[:, 1:]


def main(c):
    torch.manual_seed(c["seed"])
    gen = torch.Generator().manual_seed(c["seed"])
    model = CausalLM(c)
    opt = torch.optim.Adam(model.parameters(), lr=c["lr"])
    for step in range(c["steps"]):
        x, y = get_batch(c, gen)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 10 == 0 or step == c["steps"] - 1:
            print(f"step {step} loss {loss.item():.5f}")


if __name__ == "__main__":
    main(CFG)
