"""Classes of __main__ pickled to an executor and back; dataset classes with workers forked from them."""
import pickle
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import torch
from torch import nn


@dataclass
class Config:
    lr: float = 0.1
    width: int = 4


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.fc = nn.Linear(config.width, 1)

    def forward(self, x):
        return self.fc(x)


def score(net):
    return type(net).__module__, net.config, net(torch.ones(1, net.config.width)).item()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = Net(Config())
    optimizer = torch.optim.SGD(net.parameters(), lr=net.config.lr)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        for step in range(3):
            optimizer.zero_grad()
            loss = net(torch.randn(2, 4)).square().mean()
            loss.backward()
            optimizer.step()
            print(step, loss.item(), pool.submit(score, net).result())
    print(pickle.loads(pickle.dumps(Config)) is Config, b"__main__" in pickle.dumps(net))
