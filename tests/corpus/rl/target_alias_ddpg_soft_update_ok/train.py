import torch

from agent import DDPG


def collect(n, gen):
    """Random pushes on a cart that should stop at the origin."""
    s = torch.rand(n, 2, generator=gen) * 2 - 1
    a = torch.rand(n, 1, generator=gen) * 2 - 1
    v = 0.7 * s[:, 1] + 0.5 * a[:, 0]
    s2 = torch.stack([s[:, 0] + 0.3 * v, v], dim=1)
    done = (s2[:, 0].abs() > 1.0).float()
    r = -s2[:, 0] ** 2 - 0.1 * s2[:, 1] ** 2 - 2.0 * done
    return s, a, r, s2, done


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(5)
    buffer = collect(600, gen)
    agent = DDPG()
    for step in range(1, 81):
        idx = torch.randint(0, 600, (64,), generator=gen)
        critic_loss, actor_loss = agent.update(*(part[idx] for part in buffer))
        if step % 16 == 0:
            print(f"step {step} critic {critic_loss:.5f} actor {actor_loss:.5f}")


if __name__ == "__main__":
    main()
