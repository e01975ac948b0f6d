"""What the names of Python calls in a trace say: file, line, function, and whose code it is."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache

from stepscope.common.code_owner import is_library_path

MODULE = "nn.Module: "
"""torch writes `nn.Module: Linear_3`: the class, and a number that counts the instances of it."""

MODULE_SPAN = "module "
"""Our collector writes spans named `module blocks.0.fc1 (Linear)` where there are no stacks."""

_PYTHON = re.compile(r"^(?P<file>.*)\((?P<line>\d+)\): (?P<function>.+)$", re.S)
_METHOD = re.compile(r"^<built-in method (?P<name>\S*) of (?P<kind>.+?)(?: object)?(?: at 0x[0-9a-f]+)?>$")
_FUNCTION = re.compile(r"^<built-in function (?P<name>.+)>$")

# torch takes the entries of sys.path off the front of file names, so an installed package is its first folder here.
_KNOWN = """
    torch torchvision torchaudio torchtext torchdata torchgen functorch triton torchao torchtune torchtitan torchrec
    numpy scipy pandas polars pyarrow sklearn skimage PIL cv2 matplotlib seaborn plotly numba jax jaxlib cupy
    transformers datasets tokenizers accelerate peft trl diffusers safetensors huggingface_hub evaluate optimum
    lightning pytorch_lightning lightning_fabric lightning_utilities torchmetrics fastai ignite catalyst composer
    timm kornia monai albumentations einops xformers flash_attn bitsandbytes deepspeed apex fairscale megatron
    torch_geometric dgl gym gymnasium stable_baselines3 ray optuna hydra omegaconf fire click typer rich tqdm
    wandb tensorboard tensorboardX mlflow aim trackio clearml comet_ml neptune
    yaml requests urllib3 fsspec aiohttp packaging pydantic msgspec psutil setuptools pkg_resources joblib
    IPython ipykernel jupyter_client tornado traitlets debugpy pydevd pytest _pytest pluggy stepscope
    _distutils_hack typing_extensions six attr attrs google absl
"""
_PACKAGES = frozenset(_KNOWN.split())
_STDLIB = frozenset(sys.stdlib_module_names)


@dataclass(frozen=True)
class Frame:
    """One name of a Python call, taken apart."""

    label: str
    """As a person writes it: step (train.py:34), Tensor.add_, Linear_3"""
    file: str = ""
    line: int = 0
    function: str = ""
    own: bool = False
    """In the user's own files."""
    module: str = ""
    """Linear_3 of `nn.Module: Linear_3`"""
    ours: bool = False
    """Of Stepscope, which was there to measure."""


@lru_cache(maxsize=65536)
def frame_of(name: str) -> Frame:
    """
    >>> frame_of("train.py(34): step")
    Frame(label='step (train.py:34)', file='train.py', line=34, function='step', own=True, module='', ours=False)
    >>> frame_of("<built-in method lerp_ of Tensor object at 0x7f903e9dd540>").label
    'Tensor.lerp_'
    >>> frame_of("torch/nn/modules/linear.py(130): forward").own
    False
    """
    if name.startswith(MODULE):
        module = name[len(MODULE) :]
        return Frame(label=module, function=module, module=module)
    found = _PYTHON.match(name)
    if found:
        file, line, function = found["file"], int(found["line"]), found["function"]
        ours = file.startswith("stepscope/") or "/stepscope/" in file
        return Frame(f"{function} ({file}:{line})", file, line, function, own=not is_library_file(file), ours=ours)
    return Frame(label=_built_in(name), function=_built_in(name))


def _built_in(name: str) -> str:
    method = _METHOD.match(name)
    if method:
        kind = method["kind"].rsplit(".", 1)[-1]
        plain = method["name"] or "?"
        return plain if kind == "type" or kind.startswith("pybind11") else f"{kind}.{plain}"
    function = _FUNCTION.match(name)
    return function["name"] if function else name


def is_python_itself(frame: Frame) -> bool:
    """Whether it is a built-in function or one of Python's own library."""
    return not frame.module and (not frame.file or frame.file.split("/", 1)[0].removesuffix(".py") in _STDLIB)


@lru_cache(maxsize=16384)
def is_library_file(file: str) -> bool:
    """Whether a file is Python's, torch's or an installed package's, by its name alone.

    >>> [is_library_file(f) for f in ("enum.py", "torch/_ops.py", "/opt/site-packages/x/y.py", "src/model.py")]
    [True, True, True, False]
    """
    path = file.replace("\\", "/")
    if path.startswith("<") and not path.startswith(("<ipython", "<stdin")):
        return True
    if is_library_path(path):
        return True
    if "/ipykernel_" in path:  # a cell of a notebook
        return False
    if "/bin/" in path and not path.endswith(".py"):  # the command that was typed: torchrun, stepscope
        return True
    first = path.split("/", 1)[0]
    if "/" not in path:
        return first.removesuffix(".py") in _STDLIB or first.removesuffix(".py") in _PACKAGES
    return first in _PACKAGES or first in _STDLIB
