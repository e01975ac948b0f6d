from dataclasses import dataclass
import torch
from torch import nn
from torch.distributions import Categorical, MixtureSameFamily, Normal


@dataclass(frozen=True)
class HP:
    components: int = 3
    hidden: int = 32
    lr: float = 5e-3
    iters: int = 90
    batch: int = 64


class MDN(nn.Module):
    """y given x as a mixture of Gaussians."""

    def __init__(self, hp):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, hp.hidden), nn.Tanh())
        self.pi = nn.Linear(hp.hidden, hp.components)
        self.mu = nn.Linear(hp.hidden, hp.components)
        self.sigma = nn.Linear(hp.hidden, hp.components)

    def forward(self, x):
        h = self.trunk(x)
        scale = nn.functional.softplus(self.sigma(h)) + 0.05
        return MixtureSameFamily(Categorical(logits=self.pi(h)), Normal(self.mu(h), scale))


def sample_inverse_sine(n):
    y = torch.rand(n) * 2 - 1
    x = y + 0.3 * torch.sin(2 * torch.pi * y) + 0.05 * torch.randn(n)
    return x.unsqueeze(1), y


def train(hp):
    model = MDN(hp)
    opt = torch.optim.Adam(model.parameters(), lr=hp.lr)
    for it in range(hp.iters):
        x, y = sample_inverse_sine(hp.batch)
        mixture = model(x)
        loss = -mixture.log_prob(y).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 15 == 0 or it == hp.iters - 1:
            print(f"iter {it:3d} objective {loss.item():.5f}")
    return model


if __name__ == "__main__":
    torch.manual_seed(17)
    model = train(HP())
    with torch.no_grad():
        x, y = sample_inverse_sine(500)
        print(f"held-out log-likelihood {model(x).log_prob(y).mean().item():.5f}")
