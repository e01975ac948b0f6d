import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--dim", type=int, default=32)
args = parser.parse_args()

torch.manual_seed(11)
VOCAB, LEN = 12, 10


class SortNet(nn.Module):
    """Predict the sorted version of a short sequence of symbols."""

    def __init__(self, dim):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, dim)
        self.pos = nn.Parameter(torch.randn(LEN, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.out(self.enc(self.tok(ids) + self.pos))


net = SortNet(args.dim)
opt = torch.optim.Adam(net.parameters(), lr=args.lr)

for it in range(args.steps):
    ids = torch.randint(0, VOCAB, (64, LEN))
    target = ids.sort(dim=1).values
    for p in net.parameters():
        p.grad = None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = net(ids)
    loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), target.flatten())
    loss.backward()
    opt.step()
    if it % 5 == 0:
        print(it, f"{loss.item():.5f}")
