import torch
import torch.nn as nn

torch.manual_seed(5)


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.ids = nn.EmbeddingBag(500, 8, mode="sum", sparse=True)
        self.dense = nn.Sequential(nn.Linear(8 + 3, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, ids, numeric):
        return self.dense(torch.cat([self.ids(ids), numeric], dim=1)).squeeze(1)


model = ClickModel()
optimizers = [
    torch.optim.SparseAdam(list(model.ids.parameters()), lr=2e-2),
    torch.optim.Adam(model.dense.parameters(), lr=5e-3),
]
secret = torch.randn(500)
for step in range(100):
    ids = torch.randint(0, 500, (128, 4))
    numeric = torch.randn(128, 3)
    click = (secret[ids].sum(1) + numeric[:, 0] > 0).float()
    loss = nn.functional.binary_cross_entropy_with_logits(model(ids, numeric), click)
    for o in optimizers:
        o.zero_grad()
    loss.backward()
    for o in optimizers:
        o.step()
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.5f}")
