"""A target network and a score for every episode."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
q, target = nn.Linear(4, 2), nn.Linear(4, 2)
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 1e-2)
for episode in range(1, 7):
    score = 0.0
    for _ in range(5):
        s, s2 = torch.randn(8, 4), torch.randn(8, 4)
        a, r = torch.randint(0, 2, (8, 1)), torch.rand(8, 1)
        with torch.no_grad():
            goal = r + 0.9 * target(s2).max(1, keepdim=True)[0]
        loss = F.smooth_l1_loss(q(s).gather(1, a), goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        score += r.mean().item()
    target.load_state_dict(q.state_dict())
    print(f"n_episode :{episode}, score : {score:.3f}, loss : {loss.item():.5f}, eps : {8.0:.1f}%")
