from __future__ import annotations

import numpy as np
import torch
from torch import nn, Tensor
from torch.utils.data import DataLoader, Dataset


class EventLog(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """Each customer is a set of up to `max_events` events with 3 numbers."""

    def __init__(self, n: int, max_events: int = 9, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.max_events = max_events
        self.logs = [rng.normal(size=(rng.integers(3, max_events + 1), 3)).astype(np.float32) for _ in range(n)]

    def __len__(self) -> int:
        return len(self.logs)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor, Tensor]:
        log = self.logs[i]
        value = torch.tensor([log.sum(0)[0] - log.sum(0)[2]])
        mask = torch.ones(len(log), dtype=torch.bool)
        return torch.from_numpy(log), mask, value


class DeepSet(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, width))
        self.rho = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, events: Tensor, mask: Tensor) -> Tensor:
        h = self.phi(events) * mask.unsqueeze(-1)
        return self.rho(h.sum(1))


def main() -> None:
    torch.manual_seed(0)
    loader = DataLoader(EventLog(320), batch_size=32, shuffle=True)
    net = DeepSet()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for epoch in range(8):
        losses: list[float] = []
        for events, mask, value in loader:
            loss = nn.functional.huber_loss(net(events, mask), value)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"{epoch=} huber={np.mean(losses):.6f}")


main()
