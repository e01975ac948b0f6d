import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
qt = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), 2e-3)
tau, gamma = 0.005, 0.9
S = torch.randn(500, 3)
A = torch.randint(0, 2, (500,))
S2 = S + (A * 2 - 1).unsqueeze(1) * 0.3
R = -S2.abs().sum(1)
for step in range(200):
    i = torch.randint(0, 500, (64,))
    with torch.no_grad():
        y = R[i] + gamma * qt(S2[i]).max(1).values
    loss = nn.functional.mse_loss(q(S[i]).gather(1, A[i, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for p, t in zip(q.parameters(), qt.parameters()):
        t.data.copy_(tau * p.data + (1 - tau) * t.data)
    if step % 50 == 0:
        print(step, loss.item())
