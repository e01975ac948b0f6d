import numpy as np
import torch
from torch import nn

torch.manual_seed(13)
GAMMA = 0.9
P = torch.softmax(torch.randn(7, 7) * 2, dim=1)
REWARD = torch.randn(7)
true_v = torch.linalg.solve(torch.eye(7) - GAMMA * P, REWARD)

critic = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
states = torch.eye(7)
curve = []

for sweep in range(400):
    s = torch.randint(0, 7, (32,))
    s_next = torch.multinomial(P[s], 1).squeeze(1)
    with torch.no_grad():
        target = REWARD[s] + GAMMA * critic(states[s_next]).squeeze(1)
    value = critic(states[s]).squeeze(1)
    loss = (value - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if sweep % 50 == 0:
        estimate = critic(states).squeeze(1).detach().numpy()
        error = float(np.abs(estimate - true_v.numpy()).mean())
        curve.append(error)
        print(f"sweep {sweep} td loss {loss.item():.4f} value error {error:.3f}")

print("error first/last:", round(curve[0], 3), round(curve[-1], 3))
