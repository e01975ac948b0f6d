import torch
from torch import nn

torch.manual_seed(15)


def parity(n, length):
    bits = torch.randint(0, 2, (n, length))
    return bits, bits.sum(1) % 2


class BitReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 24, batch_first=True)
        self.out = nn.Linear(24, 2)

    def forward(self, bits):
        h = self.rnn(bits.float().unsqueeze(-1) * 2 - 1)[1]
        return self.out(h[-1])


model = BitReader()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
length, acc_avg = 2, 0.5
for step in range(300):
    bits, y = parity(64, length)
    logits = model(bits)
    loss = nn.functional.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    acc_avg = 0.9 * acc_avg + 0.1 * (logits.argmax(1) == y).float().mean().item()
    if acc_avg > 0.95 and length < 8:
        length, acc_avg = length + 1, 0.5
    if step % 60 == 0:
        print(f"step {step} length {length} loss {loss.item():.4f}")
print("reached length", length)
