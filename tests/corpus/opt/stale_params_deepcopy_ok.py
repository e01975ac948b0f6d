import copy
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn


@dataclass
class Settings:
    hidden: list = field(default_factory=lambda: [24, 24])
    lr: float = 5e-3
    epochs: int = 10
    batch_size: int = 32
    seed: int = 17


class Regressor(nn.Module):
    def __init__(self, n_in: int, hidden: list) -> None:
        super().__init__()
        dims = [n_in, *hidden]
        layers: list = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), nn.SiLU()]
        layers.append(nn.Linear(dims[-1], 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class Experiment:
    def __init__(self, template: nn.Module, cfg: Settings) -> None:
        self.cfg = cfg
        self.model = copy.deepcopy(template)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.criterion = nn.L1Loss()

    def run(self, x: Tensor, y: Tensor) -> float:
        self.model.train()
        for epoch in range(self.cfg.epochs):
            losses = []
            for idx in torch.randperm(len(x)).split(self.cfg.batch_size):
                loss = self.criterion(self.model(x[idx]), y[idx])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            if epoch % 3 == 0:
                print(f"epoch={epoch} mae={sum(losses) / len(losses):.5f}")
        return losses[-1]


if __name__ == "__main__":
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    x = torch.rand(256, 3) * 2 - 1
    y = (x[:, :1] ** 2 + torch.cos(3 * x[:, 1:2]) * x[:, 2:3])
    base = Regressor(3, cfg.hidden)
    final = Experiment(base, cfg).run(x, y)
    print(f"final {final:.5f}")
