"""Example inputs from sizes, without using the global random state."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from stepscope.common.units import bytes_text
from stepscope.errors import BadData, NotFound, UsageError
from stepscope.inspect.figures import shape

_RANGE = re.compile(r"(-?\d+)-(-?\d+)")


@dataclass(frozen=True)
class InputSpec:
    """A parsed `--input ids=1,128:int64:0-50256`."""

    shape: tuple[int, ...]
    dtype: str | None = None
    low: int | None = None
    high: int | None = None
    name: str | None = None


def _parsed_shape(sizes: str, text: str) -> tuple[int, ...]:
    try:
        plain = sizes.strip(" ()[]").removesuffix(",")
        shape = tuple(int(part) for part in re.split("[,x×]", plain)) if plain else ()
    except ValueError:
        raise UsageError(f"--input {text!r}: {sizes!r} is not a shape; use for example 1,3,224,224") from None
    if any(size < 0 for size in shape):
        raise UsageError(f"--input {text!r}: a size is negative; use for example 1,3,224,224")
    return shape


def parse_input(text: str) -> InputSpec:
    """`[name=]1,3,224,224[:dtype][:low-high]`; integers are 0 unless a range is given, floats normally distributed.

    >>> parse_input("ids=1,128:int64:0-50256")
    InputSpec(shape=(1, 128), dtype='int64', low=0, high=50256, name='ids')
    """
    name, equals, rest = text.rpartition("=")
    sizes, *options = rest.split(":")
    if equals and not name.strip().isidentifier():
        raise UsageError(f"--input {text!r}: {name!r} is not an argument name; use for example ids=1,128")
    shape = _parsed_shape(sizes, text)
    dtype, low, high = None, None, None
    for option in options:
        found = _RANGE.fullmatch(option.strip())
        if found is not None:
            low, high = int(found[1]), int(found[2])
        else:
            dtype = option.strip()
            as_dtype(dtype)
    if low is not None and high is not None and high < low:
        raise UsageError(f"--input {text!r}: the range {low}-{high} is empty; give the smaller number first")
    if not dtype and low is not None:
        dtype = "int64"
    return InputSpec(shape, dtype or None, low, high, name.strip() or None)


def as_dtype(name: Any) -> torch.dtype:
    """A torch dtype from itself or its name."""
    if isinstance(name, torch.dtype):
        return name
    found = getattr(torch, str(name).removeprefix("torch."), None)
    if not isinstance(found, torch.dtype):
        raise UsageError(f"there is no dtype {str(name)!r}; use for example float32, float16, bfloat16, int64 or bool")
    return found


def make_tensor(spec: InputSpec, model: Any, device: Any, seed: int = 0) -> torch.Tensor:
    """A tensor of that shape, with the model's dtype by default.

    Uses a separate generator, so the global random state is unchanged.
    """
    dtype = as_dtype(spec.dtype or dtype_of(model))
    if torch.device(device).type == "meta":
        return torch.empty(spec.shape, dtype=dtype, device="meta")
    try:
        return _values(spec, dtype, seed).to(device=device, dtype=dtype)
    except (RuntimeError, MemoryError):
        needed = bytes_text(math.prod(spec.shape) * dtype.itemsize)
        raise UsageError(
            f"an input of {shape(spec.shape)} does not fit into memory ({needed}); give a smaller one"
        ) from None


def _values(spec: InputSpec, dtype: torch.dtype, seed: int) -> torch.Tensor:
    source = torch.Generator().manual_seed(seed)
    if spec.low is not None and spec.high is not None:
        return torch.randint(spec.low, spec.high + 1, spec.shape, generator=source)
    if dtype == torch.bool:
        return torch.ones(spec.shape, dtype=torch.bool)  # as a mask: everything is visible
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(spec.shape, generator=source, dtype=torch.cfloat if dtype.is_complex else torch.float32)
    return torch.zeros(spec.shape, dtype=torch.int64)  # an index that is valid in every table


def make_inputs(input_size: Any, dtypes: Any, model: Any, device: Any) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword tensors for `input_size`: one tuple of sizes, several, or a mapping of name to sizes."""
    if isinstance(input_size, Mapping):
        named = dtypes if isinstance(dtypes, Mapping) else dict.fromkeys(input_size, dtypes)
        return [], {
            name: make_tensor(InputSpec(_shape(size), named.get(name)), model, device, seed)
            for seed, (name, size) in enumerate(input_size.items())
        }
    sizes = [input_size] if _is_shape(input_size) or not isinstance(input_size, Sequence) else list(input_size)
    several = isinstance(dtypes, Sequence) and not isinstance(dtypes, str)
    kinds = list(dtypes) if several else [dtypes] * len(sizes)
    if len(kinds) != len(sizes):
        raise UsageError(
            f"there are {len(sizes)} input sizes and {len(kinds)} dtypes; give one dtype per input, or a single one"
        )
    kinds = [getattr(kind, "dtype", kind) for kind in kinds]  # torch.FloatTensor
    pairs = zip(sizes, kinds, strict=True)
    return [make_tensor(InputSpec(_shape(size), kind), model, device, n) for n, (size, kind) in enumerate(pairs)], {}


def _is_shape(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, int) for one in value)


def _shape(value: Any) -> tuple[int, ...]:
    if not _is_shape(value):
        raise UsageError(f"input_size has {value!r}; expected a tuple of whole numbers, such as (1, 3, 224, 224)")
    return tuple(value)


def device_of(model: Any) -> torch.device:
    """The model's device: that of its first parameter or buffer, else the CPU."""
    for tensors in (model.parameters(), model.buffers()):
        for tensor in tensors:
            return torch.device(tensor.device)
    return torch.device("cpu")


def dtype_of(model: Any) -> torch.dtype:
    """The floating dtype of the model's first such parameter, else torch's default."""
    for parameter in model.parameters():
        if parameter.dtype.is_floating_point and parameter.dtype.itemsize > 1:  # 8-bit weights take wider inputs
            found: torch.dtype = parameter.dtype
            return found
    return torch.get_default_dtype()


def load_inputs(path: str | Path, device: Any) -> tuple[list[Any], dict[str, Any]]:
    """Inputs saved with `torch.save`: a tensor, a list of tensors, or a dict of keyword arguments."""
    if not Path(path).is_file():
        raise NotFound(f"there is no file {str(path)!r} with inputs; check the path")
    from stepscope.inspect.checkpoint import load_safely

    held = load_safely(path, device)
    if isinstance(held, torch.Tensor):
        return [held], {}
    if isinstance(held, (list, tuple)):
        return list(held), {}
    if isinstance(held, dict):
        return [], {str(key): value for key, value in held.items()}
    raise BadData(f"{path} contains a {type(held).__name__}; expected a tensor, a list of tensors or a dict of them")


def moved(value: Any, device: Any) -> Any:
    """Move nested tensors to another device; anything else is unchanged."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, Mapping) and type(value) is dict:
        return {key: moved(inner, device) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(moved(inner, device) for inner in value)
    return value
