import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 48), nn.ReLU())
        self.heads = nn.ModuleDict({"sign": nn.Linear(48, 1), "argmax": nn.Linear(48, 8), "norm": nn.Linear(48, 1)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


def sign_loss(m, x):
    return F.binary_cross_entropy_with_logits(m(x, "sign").squeeze(1), (x.sum(1) > 0).float())


def argmax_loss(m, x):
    return F.cross_entropy(m(x, "argmax"), x.argmax(1))


def norm_loss(m, x):
    return F.l1_loss(m(x, "norm").squeeze(1), x.norm(dim=1))


tasks = {"sign": sign_loss, "argmax": argmax_loss, "norm": norm_loss}
model = MultiTask()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
history = {k: [] for k in tasks}
for step in range(105):
    name = list(tasks)[step % 3]                # one head per update
    loss = tasks[name](model, torch.randn(64, 8))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    history[name].append(loss.item())
    if step % 21 == 20:
        print(step + 1, {k: round(v[-1], 5) for k, v in history.items()})
