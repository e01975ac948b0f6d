"""Scripts that take their settings in the ways people do, each with its command line and what it then uses.

Every script prints what it uses as `used=JSON` and takes one step of training with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["CASES", "Case"]

STEP = """
def step(**used):
    import json, torch
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=float(used.get("lr", 0.1)))
    net(torch.ones(4, 2)).sum().backward()
    optimizer.step()
    print("used=" + json.dumps(used))
"""


@dataclass(frozen=True)
class Case:
    name: str
    script: str
    words: str
    config: dict[str, tuple[Any, str]]
    """What is recorded: the value and where it comes from. Nothing else may be, but the optimizer's settings."""
    used: dict[str, str] = field(default_factory=dict)
    """Names of the settings by the names under which the script prints what it uses, where they differ."""
    files: dict[str, str] = field(default_factory=dict)
    needs: str = ""
    environment: dict[str, str] = field(default_factory=dict)


CL, DEFAULT = "command line", "default"
_LR_DEPTH: dict[str, tuple[Any, str]] = {"lr": (0.5, CL), "depth": (2, DEFAULT)}

CASES = [
    Case(
        "argparse",
        """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--depth", type=int, default=2)
parser.add_argument("--wide", action="store_true")
parser.add_argument("data")
args = parser.parse_args()
args.depth *= 2
step(lr=args.lr, depth=args.depth, wide=args.wide, data=args.data)
""",
        "digits --lr=0.5",
        {"lr": (0.5, CL), "depth": (4, "script"), "wide": (False, DEFAULT), "data": ("digits", CL)},
    ),
    Case(
        "argparse, shortened, with a file of defaults",
        """
import argparse, yaml
first = argparse.ArgumentParser(add_help=False)
first.add_argument("-c", "--config")
known, rest = first.parse_known_args()
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--depth", type=int, default=1)
parser.add_argument("--momentum", type=float, default=0.0)
parser.set_defaults(**yaml.safe_load(open(known.config)))
args = parser.parse_args(rest)
step(lr=args.lr, depth=args.depth, momentum=args.momentum)
""",
        "-c base.yaml --mom 0.9",
        {"config": ("base.yaml", CL), "lr": (0.3, "base.yaml"), "depth": (5, "base.yaml"), "momentum": (0.9, CL)},
        files={"base.yaml": "lr: 0.3\ndepth: 5\n"},
        needs="yaml",
    ),
    Case(
        "click",
        """
import click
@click.command()
@click.option("--lr", default=0.1)
@click.option("--depth", default=2)
@click.option("--seed", default=0, envvar="TRAIN_SEED")
def main(lr, depth, seed):
    step(lr=lr, depth=depth, seed=seed)
main()
""",
        "--lr 0.5",
        {**_LR_DEPTH, "seed": (7, "environment")},
        environment={"TRAIN_SEED": "7"},
        needs="click",
    ),
    Case(
        "typer",
        """
import typer
def main(lr: float = 0.1, depth: int = 2):
    step(lr=lr, depth=depth)
typer.run(main)
""",
        "--lr 0.5",
        _LR_DEPTH,
        needs="typer",
    ),
    Case(
        "typer, changed in the function",
        """
import typer
def main(lr: float = 0.1, depth: int = 64, name: str = "net"):
    depth = min(depth, 20)
    name = open(__file__)
    step(lr=lr, depth=depth)
typer.run(main)
""",
        "--lr 0.5",
        {"lr": (0.5, CL), "depth": (20, "script"), "name": ("net", DEFAULT)},
        needs="typer",
    ),
    Case(
        "click, changed in the function",
        """
import click
@click.command()
@click.option("--lr", default=0.1)
@click.option("--depth", default=64)
@click.pass_context
def main(context, lr, depth):
    if depth > 20: depth = 20
    step(lr=lr, depth=depth)
main()
""",
        "--lr 0.5",
        {"lr": (0.5, CL), "depth": (20, "script")},
        needs="click",
    ),
    Case(
        "fire, changed in the function",
        """
import fire
def main(lr=0.1, depth=64):
    depth = min(depth, 20)
    step(lr=lr, depth=depth)
fire.Fire(main)
""",
        "--lr 0.5",
        {"lr": (0.5, CL), "depth": (20, "script")},
        needs="fire",
    ),
    Case(
        "fire",
        """
import fire
def main(lr=0.1, depth=2):
    step(lr=lr, depth=depth)
fire.Fire(main)
""",
        "--lr 0.5",
        _LR_DEPTH,
        needs="fire",
    ),
    Case(
        "fire with a class",
        """
import fire
class Trainer:
    def __init__(self, lr=0.1):
        self.lr = lr
    def fit(self, depth=2):
        step(lr=self.lr, depth=depth)
fire.Fire(Trainer)
""",
        "--lr 0.5 fit",
        _LR_DEPTH,
        needs="fire",
    ),
    Case(
        "tyro with a dataclass",
        """
from dataclasses import dataclass, field
import tyro
@dataclass
class Optim:
    lr: float = 0.1
    momentum: float = 0.0
@dataclass
class Args:
    optim: Optim = field(default_factory=Optim)
    depth: int = 2
args = tyro.cli(Args)
step(lr=args.optim.lr, momentum=args.optim.momentum, depth=args.depth)
""",
        "--optim.lr 0.5",
        {"optim/lr": (0.5, CL), "optim/momentum": (0.0, DEFAULT), "depth": (2, DEFAULT)},
        used={"lr": "optim/lr", "momentum": "optim/momentum"},
        needs="tyro",
    ),
    Case(
        "tyro with a function",
        """
import tyro
def main(lr: float = 0.1, depth: int = 2) -> None:
    step(lr=lr, depth=depth)
tyro.cli(main)
""",
        "--lr 0.5",
        _LR_DEPTH,
        needs="tyro",
    ),
    Case(
        "simple-parsing",
        """
from dataclasses import dataclass
import simple_parsing
@dataclass
class Options:
    lr: float = 0.1
    depth: int = 2
options = simple_parsing.parse(Options)
step(lr=options.lr, depth=options.depth)
""",
        "--lr 0.5",
        _LR_DEPTH,
        needs="simple_parsing",
    ),
    Case(
        "simple-parsing with two dataclasses",
        """
from dataclasses import dataclass
from simple_parsing import ArgumentParser
@dataclass
class Optim:
    lr: float = 0.1
@dataclass
class Net:
    depth: int = 2
parser = ArgumentParser()
parser.add_arguments(Optim, dest="optim")
parser.add_arguments(Net, dest="net")
args = parser.parse_args()
step(lr=args.optim.lr, depth=args.net.depth)
""",
        "--lr 0.5",
        {"optim/lr": (0.5, CL), "net/depth": (2, DEFAULT)},
        used={"lr": "optim/lr", "depth": "net/depth"},
        needs="simple_parsing",
    ),
    Case(
        "jsonargparse with a class",
        """
from jsonargparse import CLI
class Net:
    def __init__(self, depth: int = 2, width: int = 3):
        self.depth = depth
def main(net: Net, lr: float = 0.1):
    step(lr=lr, depth=net.depth)
CLI(main, as_positional=False)
""",
        "--net.depth 5 --lr 0.5",
        {
            "net/class_path": ("__main__.Net", DEFAULT),
            "net/init_args/depth": (5, CL),
            "net/init_args/width": (3, DEFAULT),
            "lr": (0.5, CL),
        },
        used={"depth": "net/init_args/depth"},
        needs="jsonargparse",
    ),
    Case(
        "absl",
        """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_float("lr", 0.1, "learning rate")
flags.DEFINE_integer("depth", 2, "layers")
def main(argv):
    step(lr=FLAGS.lr, depth=FLAGS.depth)
app.run(main)
""",
        "--lr=0.5",
        _LR_DEPTH,
        needs="absl",
    ),
    Case(
        "absl with a ConfigDict",
        """
from absl import app
from ml_collections import config_flags
config = config_flags.DEFINE_config_file("config")
def main(argv):
    step(lr=config.value.lr, width=config.value.model.width)
app.run(main)
""",
        "--config=settings.py --config.lr=0.5",
        {"config/lr": (0.5, CL), "config/model/width": (8, "settings.py")},
        used={"lr": "config/lr", "width": "config/model/width"},
        files={
            "settings.py": "import ml_collections\ndef get_config():\n"
            "    return ml_collections.ConfigDict({'lr': 0.1, 'model': {'width': 8}})\n"
        },
        needs="ml_collections",
    ),
    Case(
        "jsonargparse",
        """
from jsonargparse import ArgumentParser
parser = ArgumentParser()
parser.add_argument("--config", action="config")
parser.add_argument("--model.lr", type=float, default=0.1)
parser.add_argument("--model.depth", type=int, default=2)
parser.add_argument("--seed", type=int, default=0)
cfg = parser.parse_args()
step(lr=cfg.model.lr, depth=cfg.model.depth, seed=cfg.seed)
""",
        "--config base.yaml --model.lr 0.5",
        {"model/lr": (0.5, CL), "model/depth": (3, "base.yaml"), "seed": (0, DEFAULT)},
        used={"lr": "model/lr", "depth": "model/depth"},
        files={"base.yaml": "model:\n  lr: 0.2\n  depth: 3\n"},
        needs="jsonargparse",
    ),
    Case(
        "hydra",
        """
import hydra
from omegaconf import OmegaConf
OmegaConf.register_new_resolver("double", lambda value: 2 * value)
@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    step(lr=cfg.lr, width=cfg.model.width, twice=cfg.twice)
main()
""",
        "lr=0.5 model=big",
        {"lr": (0.5, CL), "model/width": (64, "conf/model/big.yaml"), "twice": (1.0, "conf/config.yaml")},
        used={"width": "model/width"},
        files={
            "conf/config.yaml": "defaults:\n  - model: small\n  - _self_\nlr: 0.1\ntwice: ${double:${lr}}\n",
            "conf/model/small.yaml": "width: 8\n",
            "conf/model/big.yaml": "width: 64\n",
        },
        needs="hydra",
    ),
    Case(
        "OmegaConf",
        """
from omegaconf import OmegaConf
def main():
    mine = OmegaConf.merge(OmegaConf.load("base.yaml"), OmegaConf.from_cli())
    step(lr=mine.optim.lr, depth=mine.depth)
main()
""",
        "optim.lr=0.5",
        {"optim/lr": (0.5, CL), "depth": (3, "base.yaml")},
        used={"lr": "optim/lr"},
        files={"base.yaml": "optim:\n  lr: 0.2\ndepth: 3\n"},
        needs="omegaconf",
    ),
    Case(
        "yacs",
        """
from yacs.config import CfgNode as CN
_C = CN()
_C.SOLVER = CN()
_C.SOLVER.LR = 0.1
_C.DEPTH = 2
_C.SEED = 0
def main():
    node = _C.clone()
    node.merge_from_file("base.yaml")
    node.merge_from_list(["SOLVER.LR", 0.5])
    step(lr=node.SOLVER.LR, depth=node.DEPTH, seed=node.SEED)
main()
""",
        "",
        {"SOLVER/LR": (0.5, CL), "DEPTH": (3, "base.yaml"), "SEED": (0, DEFAULT)},
        used={"lr": "SOLVER/LR", "depth": "DEPTH", "seed": "SEED"},
        files={"base.yaml": "DEPTH: 3\n"},
        needs="yacs",
    ),
    Case(
        "a CfgNode of the script's own",
        """
class CfgNode:
    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)
def main():
    config = CfgNode(lr=0.5, model=CfgNode(depth=3))
    step(lr=config.lr, depth=config.model.depth)
main()
""",
        "",
        {"lr": (0.5, "script"), "model/depth": (3, "script")},
        used={"depth": "model/depth"},
    ),
    Case(
        "a dataclass in a function",
        """
from dataclasses import dataclass
@dataclass
class TrainConfig:
    lr: float = 0.1
    depth: int = 2
def main():
    tc = TrainConfig(lr=0.5)
    step(lr=tc.lr, depth=tc.depth)
main()
""",
        "",
        {"lr": (0.5, "script"), "depth": (2, DEFAULT)},
    ),
    Case(
        "pydantic",
        """
from pydantic import BaseModel
class Config(BaseModel):
    lr: float = 0.1
    depth: int = 2
cfg = Config(lr=0.5)
step(lr=cfg.lr, depth=cfg.depth)
""",
        "",
        {"lr": (0.5, "script"), "depth": (2, DEFAULT)},
        needs="pydantic",
    ),
    Case(
        "pydantic-settings",
        """
from pydantic_settings import BaseSettings, SettingsConfigDict
class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="train_")
    lr: float = 0.1
    depth: int = 2
settings = Settings()
step(lr=settings.lr, depth=settings.depth)
""",
        "",
        {"lr": (0.5, "environment"), "depth": (2, DEFAULT)},
        environment={"TRAIN_LR": "0.5"},
        needs="pydantic_settings",
    ),
    Case(
        "constants, overruled by a configurator",
        """
import sys
lr = 0.1
depth = 2
for word in sys.argv[1:]:
    key, value = word.removeprefix("--").split("=")
    globals()[key] = float(value)
step(lr=lr, depth=depth)
""",
        "--lr=0.5",
        {"lr": (0.5, CL), "depth": (2, "script")},
    ),
    Case(
        "environment variables",
        """
import os
lr = float(os.environ.get("LR", "0.1"))
depth = int(os.getenv("DEPTH", "2"))
home = os.environ["HOME"]
step(lr=lr, depth=depth)
""",
        "",
        {"env/LR": ("0.5", "environment"), "env/DEPTH": ("2", DEFAULT)},
        used={"lr": "env/LR", "depth": "env/DEPTH"},
        environment={"LR": "0.5"},
    ),
    Case(
        "a JSON file",
        """
import json
def main():
    with open("config.json") as file:
        settings = json.load(file)
    settings["lr"] = 0.5
    step(lr=settings["lr"], depth=settings["model"]["depth"])
main()
""",
        "",
        {"lr": (0.5, "script"), "model/depth": (3, "config.json")},
        used={"depth": "model/depth"},
        files={"config.json": '{"lr": 0.1, "model": {"depth": 3}}'},
    ),
]
