"""PPO on a small chain: go right when the light is on, left when it is off."""
import torch
from torch import nn
from torch.distributions import Categorical


class Lights:
    def __init__(self, count, generator):
        self.count, self.generator = count, generator

    def rollout(self, policy, length):
        observations, actions, rewards = [], [], []
        state = torch.randint(0, 2, (self.count, 3), generator=self.generator).float()
        for _ in range(length):
            with torch.no_grad():
                action = Categorical(logits=policy(state)[0]).sample()
            wanted = (state.sum(1) % 2).long()
            observations.append(state)
            actions.append(action)
            rewards.append((action == wanted).float())
            state = torch.randint(0, 2, (self.count, 3), generator=self.generator).float()
        return torch.cat(observations), torch.cat(actions), torch.cat(rewards)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.pi = nn.Linear(32, 2)
        self.v = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.pi(h), self.v(h).squeeze(-1)


def ppo_update(model, optimizer, batch, clip=0.2, epochs=4, minibatch=128):
    states, actions, rewards = batch
    with torch.no_grad():
        logits, values = model(states)
        old_log_prob = Categorical(logits=logits).log_prob(actions)
        advantage = rewards - values
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(epochs):
        for rows in torch.randperm(len(states)).split(minibatch):
            logits, value = model(states[rows])
            dist = Categorical(logits=logits)
            log_prob = dist.log_prob(actions[rows])
            ratio = torch.exp(log_prob - log_prob.detach())
            clipped = ratio.clamp(1 - clip, 1 + clip)
            policy_loss = -torch.min(ratio * advantage[rows], clipped * advantage[rows]).mean()
            value_loss = (value - rewards[rows]).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main():
    torch.manual_seed(0)
    env = Lights(16, torch.Generator().manual_seed(3))
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for iteration in range(25):
        batch = env.rollout(model, 32)
        ppo_update(model, optimizer, batch)
        if iteration % 5 == 4:
            print(f"iteration {iteration} mean reward {batch[2].mean():.3f}")


if __name__ == "__main__":
    main()
