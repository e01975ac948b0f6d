# untouched: without dynamo
"""A generate-like loop: hundreds of small forwards with a cache, sampling, no optimizer."""
import torch
import torch.nn.functional as F
from torch import nn


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(17, 8), nn.GRUCell(8, 8), nn.Linear(8, 17)

    def forward(self, token, state):
        state = self.rnn(self.embed(token), state)
        return self.head(state), state

    @torch.no_grad()
    def generate(self, token, length, generator):
        state, out = torch.zeros(1, 8), [token.item()]
        for _ in range(length):
            logits, state = self(token, state)
            token = torch.multinomial(F.softmax(logits, -1), 1, generator=generator)[0]
            out.append(token.item())
        return out


torch.manual_seed(0)
model = Tiny().eval()
for _ in range(3):
    print(model.generate(torch.tensor([1]), 60, torch.Generator().manual_seed(4)))
print(torch.rand(1).item())
