import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, n_in, n_out, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, hidden), nn.Tanh(), nn.Linear(hidden, n_out))

    def forward(self, x):
        return self.net(x)


class MixtureOfExperts(nn.Module):
    def __init__(self, n_in, n_out, n_experts, hidden=24):
        super().__init__()
        experts = []
        for _ in range(n_experts):
            experts.append(Expert(n_in, n_out, hidden))
        self.experts = experts
        self.router = nn.Linear(n_in, n_experts)

    def forward(self, x):
        gates = self.router(x).softmax(dim=-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (gates.unsqueeze(-1) * outputs).sum(dim=1), gates
