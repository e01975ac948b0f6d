"""`add_graph`: one forward pass of a model, recorded as a step."""

from __future__ import annotations

from typing import Any

from stepscope.inspect.recording import record
from stepscope.inspect.step import Step

__all__ = ["recorded_graph"]


def recorded_graph(model: Any, inputs: Any) -> Step:
    """The model's graph. Modes, gradients and random numbers are restored afterward."""
    import torch

    modes = {module: module.training for module in model.modules()}
    devices = [torch.device("cuda", number) for number in range(torch.cuda.device_count())]
    arguments = inputs if isinstance(inputs, (tuple, list)) else () if inputs is None else (inputs,)
    with torch.random.fork_rng(devices), torch.no_grad():
        try:
            for module in modes:
                module.training = False
            with record(model, backward=False) as step:
                if isinstance(inputs, dict):
                    model(**inputs)
                else:
                    model(*arguments)
        finally:
            for module, mode in modes.items():
                module.training = mode
    return step
