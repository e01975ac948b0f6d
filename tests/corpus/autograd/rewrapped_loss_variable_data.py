import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self, n_ctx, n_act):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(n_ctx, 24)
        self.affine2 = nn.Linear(24, n_act)

    def forward(self, x):
        return self.affine2(torch.relu(self.affine1(x)))


def play(policy, rng, n=32):
    """A contextual bandit: the right arm is the index of the largest of three signals."""
    ctx = torch.from_numpy(rng.normal(size=(n, 3)).astype(np.float32))
    dist = Categorical(logits=policy(ctx))
    action = dist.sample()
    reward = (action == ctx.argmax(1)).float()
    return dist.log_prob(action), reward


def finish_episode(optimizer, log_probs, rewards):
    advantage = rewards - rewards.mean()
    loss = (-log_probs * advantage).mean()
    loss = Variable(loss.data, requires_grad=True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(543)
    rng = np.random.default_rng(543)
    policy = Policy(3, 3)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    mean_reward = []
    for i_episode in range(1, 101):
        log_probs, rewards = play(policy, rng)
        loss = finish_episode(optimizer, log_probs, rewards)
        mean_reward.append(rewards.mean().item())
        if i_episode % 20 == 0:
            print('Episode {}\tLoss: {:.5f}\tAverage reward: {:.4f}'.format(
                i_episode, loss, np.mean(mean_reward[-20:])))


if __name__ == '__main__':
    main()
