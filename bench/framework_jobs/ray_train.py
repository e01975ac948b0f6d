# launcher: plain
"""Ray Train: two workers of a TorchTrainer, each of which opens the run."""

import os

import ray
import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer, prepare_data_loader, prepare_model
from torch.utils.data import DataLoader, TensorDataset

import stepscope


def train(config):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(256, 8)
    loader = prepare_data_loader(DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=16, shuffle=True))
    model = prepare_model(torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with stepscope.init(project="ray", dir=config["dir"], system=False) as run:
        for epoch in range(3):
            loader.sampler.set_epoch(epoch)
            for a, b in loader:
                optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(model(a), b)
                loss.backward()
                optimizer.step()
                run.log({"loss": loss.item()})


ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
where = os.path.abspath(os.environ["STEPSCOPE_DIR"])
TorchTrainer(
    train,
    train_loop_config={"dir": where},
    scaling_config=ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
    run_config=RunConfig(storage_path=os.getcwd()),
).fit()
