import random
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
N = 10
net = nn.Linear(N, 2, bias=False)
nn.init.zeros_(net.weight)
opt = torch.optim.SGD(net.parameters(), lr=0.3)
eye = torch.eye(N)


def act(s, eps):
    if random.random() < eps:
        return random.randrange(2)
    with torch.no_grad():
        q = net(eye[s])
    return int(q.argmax()) if q[0] != q[1] else random.randrange(2)


for episode in range(120):
    eps = max(0.05, 0.5 * 0.97 ** episode)
    s, steps, done = N // 2, 0, False
    a = act(s, eps)
    while not done and steps < 100:
        s2 = s + (1 if a == 1 else -1)
        done = s2 < 0 or s2 >= N
        reward = 1.0 if s2 >= N else (-1.0 if s2 < 0 else -0.01)
        q_sa = net(eye[s])[a]
        if done:
            target = torch.tensor(reward)
        else:
            a2 = act(s2, eps)
            with torch.no_grad():
                target = reward + 0.95 * net(eye[s2])[a2]
        loss = 0.5 * (q_sa - target) ** 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        steps += 1
        if not done:
            s, a = s2, a2
    if episode % 30 == 29:
        print(f"episode {episode + 1} steps {steps} last reward {reward}")
print("greedy actions", net.weight.detach().argmax(0).tolist())
