# expect: run.hang, dist.collective-mismatch
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn

VOCABULARY, WIDTH, END = 24, 32, 0


class SplitHead(nn.Module):
    """Each rank holds a share of the vocabulary; the logits are gathered."""

    def __init__(self):
        super().__init__()
        self.part = nn.Linear(WIDTH, VOCABULARY // dist.get_world_size())

    def forward(self, hidden):
        mine = self.part(hidden).detach()
        parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, mine)
        return torch.cat(parts, dim=-1)


def generate(embed, cell, head, prompt, limit):
    tokens, hidden = list(prompt), torch.zeros(1, WIDTH)
    while tokens[-1] != END and len(tokens) < limit:  # cause
        hidden = cell(embed(torch.tensor(tokens[-1:])), hidden)
        logits = head(hidden)
        logits[0, END] -= 4.0
        tokens.append(int(logits.argmax()))
    return tokens


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(5)
embed, cell, head = nn.Embedding(VOCABULARY, WIDTH), nn.GRUCell(WIDTH, WIDTH), SplitHead()
limits = [40, 40, 25, 40]
for number in range(6):
    text = generate(embed, cell, head, [1 + rank, 2 + number], limit=limits[rank])
    lengths = torch.tensor([len(text)])
    dist.broadcast(lengths, src=0)
if rank == 0:
    print("mean length", lengths.item())
dist.destroy_process_group()
