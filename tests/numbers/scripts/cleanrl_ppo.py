"""global_step=..., episodic_return=..., a value and a policy loss summed."""

import torch
from torch import nn

torch.manual_seed(0)
agent = nn.ModuleDict({"actor": nn.Linear(4, 2), "critic": nn.Linear(4, 1)})
optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-3, eps=1e-5)
global_step = 0
for update in range(1, 6):
    obs = torch.randn(32, 4)
    returns = obs.sum(1)
    for k in range(32):
        global_step += 1
        if global_step % 16 == 0:
            print(f"global_step={global_step}, episodic_return={returns[: k + 1].sum().item():.4f}")
    for epoch in range(2):
        dist = torch.distributions.Categorical(logits=agent["actor"](obs))
        act = dist.sample()
        pg_loss = -(dist.log_prob(act) * returns).mean()
        v_loss = 0.5 * ((agent["critic"](obs).view(-1) - returns) ** 2).mean()
        entropy_loss = dist.entropy().mean()
        loss = pg_loss - 0.01 * entropy_loss + v_loss * 0.5
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    print("SPS:", 1000 + global_step)
