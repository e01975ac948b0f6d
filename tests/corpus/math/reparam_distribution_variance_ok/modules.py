import torch
from torch import nn
from torch.distributions import Normal, kl_divergence


class BayesLinear(nn.Module):
    """A linear layer with a Gaussian posterior over its weights."""

    def __init__(self, n_in, n_out, prior_std=1.0):
        super().__init__()
        self.w_mu = nn.Parameter(torch.randn(n_out, n_in) * n_in ** -0.5)
        self.w_logvar = nn.Parameter(torch.full((n_out, n_in), -6.0))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.prior_std = prior_std

    def posterior(self):
        std = torch.exp(0.5 * self.w_logvar)
        return Normal(self.w_mu, std)

    def kl(self):
        prior = Normal(torch.zeros_like(self.w_mu), torch.full_like(self.w_mu, self.prior_std))
        return kl_divergence(self.posterior(), prior).sum()

    def forward(self, x):
        weight = self.posterior().rsample() if self.training else self.w_mu
        return nn.functional.linear(x, weight, self.bias)


class BayesNet(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.first = BayesLinear(n_in, hidden)
        self.second = BayesLinear(hidden, n_out)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))

    def kl(self):
        return self.first.kl() + self.second.kl()
