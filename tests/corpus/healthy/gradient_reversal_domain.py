import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()

feat, label, domain = nn.Linear(8, 16), nn.Linear(16, 2), nn.Linear(16, 2)
params = [*feat.parameters(), *label.parameters(), *domain.parameters()]
opt = torch.optim.SGD(params, lr=0.05, momentum=0.9)
for step in range(15):
    rows = torch.randperm(96)[:32]
    src, tgt = x_all[rows], x_all[96 + rows] + 0.5
    h = torch.relu(feat(torch.cat([src, tgt])))
    flipped = h.clone()
    flipped.register_hook(lambda grad: -0.1 * grad)
    where = torch.cat([torch.zeros(32), torch.ones(32)]).long()
    loss = F.cross_entropy(label(h[:32]), y_all[rows]) + F.cross_entropy(domain(flipped), where)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
