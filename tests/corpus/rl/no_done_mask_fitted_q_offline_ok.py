"""Fitted Q iteration on logged data of a machine that should be serviced in time."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

RUN, SERVICE = 0, 1


def log_data(n, gen):
    wear = torch.rand(n, generator=gen)
    action = torch.randint(0, 2, (n,), generator=gen)
    grown = (wear + 0.1 + 0.1 * torch.rand(n, generator=gen)).clamp(max=1.0)
    next_wear = torch.where(action == SERVICE, torch.zeros(n), grown)
    terminal = (next_wear >= 1.0).float()
    reward = torch.where(action == SERVICE, torch.full((n,), -0.3), 1.0 - wear) - 1.0 * terminal
    return wear[:, None], action, reward, next_wear[:, None], terminal


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*log_data(480, torch.Generator().manual_seed(1))), batch_size=60, shuffle=True)
    q = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(q.parameters(), lr=5e-3)
    gamma = 0.8
    for iteration in range(14):
        frozen = copy.deepcopy(q).requires_grad_(False)
        total = 0.0
        for wear, action, reward, next_wear, terminal in loader:
            next_value = frozen(next_wear).amax(dim=1)
            target = reward + gamma * (1 - terminal) * next_value
            predicted = q(wear)[torch.arange(len(action)), action]
            loss = nn.functional.huber_loss(predicted, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if iteration % 2 == 1:
            with torch.no_grad():
                grid = torch.linspace(0, 1, 11)[:, None]
                service_from = (q(grid)[:, SERVICE] > q(grid)[:, RUN]).float().mean().item()
            print(f"iteration {iteration + 1} loss {total / len(loader):.5f} share serviced {service_from:.3f}")


if __name__ == "__main__":
    main()
