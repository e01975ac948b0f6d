import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
import copy

q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(20):
    s, s2 = torch.randn(32, 4), torch.randn(32, 4)
    a, r = torch.randint(0, 2, (32,)), torch.randn(32)
    done = (torch.rand(32) < 0.1).float()
    with torch.no_grad():
        best = target(s2).max(dim=1).values
        goal = r + 0.99 * best * (1 - done)
    guess = q(s).gather(1, a[:, None]).squeeze(1)
    loss = F.mse_loss(guess, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        for slow, fast in zip(target.parameters(), q.parameters()):
            slow.data.copy_(0.9 * slow.data + 0.1 * fast.data)
print(loss.item())
