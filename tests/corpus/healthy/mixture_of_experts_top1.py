import torch
from torch import nn

torch.manual_seed(0)


class MoE(nn.Module):
    """Top-1 routing: an expert without tokens in a batch gets no gradient in that step."""

    def __init__(self, d=8, hidden=16, n=6):
        super().__init__()
        self.router = nn.Linear(d, n)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, 1)) for _ in range(n))

    def forward(self, x):
        probs = self.router(x).softmax(-1)
        gate, choice = probs.max(-1)
        out = x.new_zeros(len(x), 1)
        for i, expert in enumerate(self.experts):
            rows = (choice == i).nonzero(as_tuple=True)[0]
            if rows.numel():
                out = out.index_add(0, rows, gate[rows, None] * expert(x[rows]))
        load = torch.bincount(choice, minlength=len(self.experts)).float() / len(x)
        balance = len(self.experts) * (load * probs.mean(0)).sum()
        return out, balance


model = MoE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(80):
    x = torch.randn(24, 8)
    y = torch.where(x[:, :1] > 0, x[:, 1:2] * 2, -x[:, 2:3])
    pred, balance = model(x)
    loss = nn.functional.mse_loss(pred, y) + 0.01 * balance
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 16 == 0:
        print(f"step {step} loss {loss.item():.5f} balance {balance.item():.4f}")
