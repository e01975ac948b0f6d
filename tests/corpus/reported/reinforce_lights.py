"""REINFORCE on a task where the first moves decide the late reward."""
import torch
from torch import nn
from torch.distributions import Categorical


class Lights:
    """Five switches; only the last step pays, by the number of right settings."""

    def __init__(self, goal):
        self.goal = goal

    def reset(self):
        self.time, self.hits = 0, 0
        return self.state()

    def state(self):
        s = torch.zeros(len(self.goal))
        if self.time < len(self.goal):
            s[self.time] = 1
        return s

    def step(self, action):
        self.hits += int(action == self.goal[self.time])
        self.time += 1
        done = self.time == len(self.goal)
        return self.state(), float(self.hits) if done else 0.0, done


def returns_of(rewards, gamma):
    returns, running = [], 0.0
    for r in rewards:
        running = r + gamma * running
        returns.append(running)
    return torch.tensor(returns)


def play(env, policy):
    state, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        distribution = Categorical(logits=policy(state))
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
    return torch.stack(log_probs), rewards


def main():
    torch.manual_seed(0)
    env = Lights([1, 0, 2, 1, 2])
    policy = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 3))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
    baseline, recent = 0.0, []
    for episode in range(1, 401):
        log_probs, rewards = play(env, policy)
        returns = returns_of(rewards, 0.99)
        loss = -(log_probs * (returns - baseline)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        score = sum(rewards)
        baseline = 0.95 * baseline + 0.05 * score
        recent.append(score)
        if episode % 100 == 0:
            print(f"episode {episode} mean reward {sum(recent[-100:]) / 100:.2f} of 5")


if __name__ == "__main__":
    main()
