"""What a script leaves behind in its process: weights, gradients, random states, hooks, modes, patches, handlers.

Taken once, after the script, its threads and its `atexit` functions have ended. A flat JSON object.
"""

from __future__ import annotations

import gc
import hashlib
import os
import random
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

MOST_DEEP = 3
_PYTHONS = ("__annotations__", "__cached__", "__file__", "__warningregistry__")
_COMPILED = re.compile(r"(?<=^__compiled_fn_)\d+_\w+$")
"""dynamo numbers the functions it adds to the script's names, with a random part."""
_GLOBAL_HOOKS = ("torch.nn.modules.module", "torch.optim.optimizer")
_PATCHABLE = (
    "torch:",
    "torch:Tensor",
    "torch.nn.parameter:Parameter",
    "torch.nn.functional:",
    "torch.nn.init:",
    "torch.nn.modules.module:",
    "torch.nn.modules.module:Module",
    "torch.nn.utils:",
    "torch.nn.utils.clip_grad:",
    "torch.autograd:",
    "torch.autograd.graph:",
    "torch.autograd.function:Function",
    "torch.optim.optimizer:Optimizer",
    "torch.optim.optimizer:",
    "torch.optim:SGD",
    "torch.optim:Adam",
    "torch.optim:AdamW",
    "torch.optim:LBFGS",
    "torch.optim.lr_scheduler:LRScheduler",
    "torch.optim.lr_scheduler:StepLR",
    "torch.optim.swa_utils:AveragedModel",
    "torch.amp.grad_scaler:GradScaler",
    "torch.amp:autocast",
    "torch.utils.data.dataloader:",
    "torch.utils.data.dataloader:DataLoader",
    "torch.utils.data.dataloader:_BaseDataLoaderIter",
    "torch.utils.data.dataloader:_SingleProcessDataLoaderIter",
    "torch.utils.data.dataloader:_MultiProcessingDataLoaderIter",
    "torch.utils.data._utils.fetch:",
    "torch.utils.data._utils.worker:",
    "torch.utils.checkpoint:",
    "torch.random:",
    "torch.serialization:",
    "torch.jit:",
    "torch.fx:",
    "torch.func:",
    "torch.export:",
    "torch.overrides:",
    "torch.utils._python_dispatch:",
    "torch.multiprocessing:",
    "numpy:",
    "numpy.random:",
    "random:",
    "os:",
    "signal:",
    "builtins:",
    "multiprocessing.process:BaseProcess",
    "threading:Thread",
)


def patchable() -> dict[str, Any]:
    """Every function and property that a watcher might replace, by name; only of modules that are loaded."""
    found: dict[str, Any] = {}
    for place in _PATCHABLE:
        module, _, kind = place.partition(":")
        owner = sys.modules.get(module)
        if owner is not None and kind:
            owner = getattr(owner, kind, None)
        if owner is None:
            continue
        for name, value in list(vars(owner).items()):
            if callable(value) or isinstance(value, property | classmethod | staticmethod):
                found[f"{place}.{name}"] = value
    return found


def fingerprint(names: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Everything that two runs of the same script must agree on. `before` is `patchable()` as it was at the start."""
    found: dict[str, Any] = {}
    torch = sys.modules.get("torch")
    gc.collect()  # dynamo takes its names away with the code they belong to, whenever that is collected
    found["globals"] = sorted(_COMPILED.sub("", key) for key in names if key not in _PYTHONS)
    found["modules of torch"] = sorted(name for name in sys.modules if name.partition(".")[0] == "torch")
    found.update(_patches(before))
    found.update(_process())
    found.update(_random(torch))
    if torch is not None:
        found.update(_torch_state(torch))
        for path, value in sorted(_reachable(torch, names), key=lambda pair: pair[0]):
            found.update(_described(torch, path, value))
    return found


def _patches(before: dict[str, Any]) -> dict[str, Any]:
    now = patchable()
    changed = {name: _named(now.get(name)) for name in before if now.get(name) is not before[name]}
    return {f"patched {name}": what for name, what in sorted(changed.items())}


def _named(value: Any) -> str:
    if isinstance(value, property):
        value = value.fget
    inner = getattr(value, "__func__", value)
    code = getattr(inner, "__code__", None)
    where = "" if code is None else f" in {os.path.basename(code.co_filename)}"
    return f"{getattr(inner, '__module__', None)}.{getattr(inner, '__qualname__', type(inner).__name__)}{where}"


def _threads() -> list[str]:
    """Those that stay. One that feeds the queue of a worker may be about to end, here as well as without us."""
    for thread in threading.enumerate():
        if thread.name == "QueueFeederThread":
            thread.join(5)
    return sorted(thread.name for thread in threading.enumerate())


def _process() -> dict[str, Any]:
    handlers = {one.name: _handler(signal.getsignal(one)) for one in signal.Signals}
    return {
        "signal handlers": {name: what for name, what in handlers.items() if what != "default"},
        "sys.excepthook": _named(sys.excepthook),
        "threading.excepthook": _named(threading.excepthook),
        "sys.settrace": _named(sys.gettrace()),
        "sys.setprofile": _named(sys.getprofile()),
        "sys.displayhook": _named(sys.displayhook),
        "sys.breakpointhook": _named(sys.breakpointhook),
        "streams": [f"{type(one).__module__}.{type(one).__name__}" for one in (sys.stdin, sys.stdout, sys.stderr)],
        "threads": _threads(),
        "gc": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_debug()],
        "warning filters": [repr(one) for one in warnings.filters],
        "showwarning": _named(warnings.showwarning),
        "folder": os.getcwd(),
        "argv": sys.argv,
        "recursion limit": sys.getrecursionlimit(),
        "switch interval": sys.getswitchinterval(),
        "meta path": [_named(type(one) if not isinstance(one, type) else one) for one in sys.meta_path],
        "environment": sorted(name for name in os.environ if not name.startswith("STEPSCOPE")),
    }


def _handler(handler: Any) -> str:
    if handler is signal.SIG_DFL:
        return "default"
    if handler is signal.SIG_IGN:
        return "ignored"
    return "python's" if handler is signal.default_int_handler else _named(handler)


def _random(torch: Any) -> dict[str, Any]:
    found = {"rng python": _hashed(repr(random.getstate()).encode())}
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        found["rng numpy"] = _hashed(repr([str(part) for part in numpy.get_state()]).encode())
    if torch is not None:
        found["rng torch"] = _bytes_of(torch, torch.get_rng_state())
    return found


def _autocast(torch: Any) -> bool:
    try:
        return bool(torch.is_autocast_enabled("cpu"))
    except TypeError:  # before torch 2.4
        return bool(torch.is_autocast_cpu_enabled())


def _torch_state(torch: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "grad enabled": [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()],
        "default dtype": str(torch.get_default_dtype()),
        "default device": str(torch.empty(0).device),
        "deterministic": [torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode()],
        "threads of torch": torch.get_num_threads(),
        "autocast": [_autocast(torch), torch.is_autocast_cache_enabled()],
        "saved tensor hooks": str(getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", bool)(False)),
        "sharing": torch.multiprocessing.get_sharing_strategy(),
        "profiler": str(torch._C._autograd._profiler_type()),
        "jit state": torch._C._get_tracing_state() is not None,
    }
    for module in _GLOBAL_HOOKS:
        for name, value in vars(sys.modules[module]).items():
            if name.startswith("_global") and isinstance(value, dict):
                found[f"hooks {name}"] = [_named(one) for one in value.values()]
    return found


def _reachable(torch: Any, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    seen: set[int] = set()
    kinds = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer, torch.utils.data.DataLoader)

    def walk(path: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
        if id(value) in seen or depth > MOST_DEEP:
            return
        if isinstance(value, kinds):
            seen.add(id(value))
            yield path, value
        elif isinstance(value, list | tuple):
            for number, one in enumerate(value[:200]):
                yield from walk(f"{path}[{number}]", one, depth + 1)
        elif isinstance(value, dict):
            for key, one in list(value.items())[:200]:
                yield from walk(f"{path}[{key!r}]", one, depth + 1)
        elif type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
            for key, one in list(vars(value).items()):
                yield from walk(f"{path}.{key}", one, depth + 1)

    for name, value in list(names.items()):
        if not name.startswith("__"):
            yield from walk(name, value, 0)


def _described(torch: Any, path: str, value: Any) -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        return {f"tensor {path}": _tensor(torch, value)}
    if isinstance(value, torch.nn.Module):
        return _module(torch, path, value)
    if isinstance(value, torch.optim.Optimizer):
        return {f"optimizer {path}": _optimizer(torch, value)}
    return {f"loader {path}": [_named(type(value)), sorted(vars(value))]}


def _module(torch: Any, path: str, module: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        parts = list(module.named_modules())
    except Exception as error:  # a scripted or a broken one
        return {f"module {path}": repr(error)}
    for name, one in parts:
        own = getattr(one, "__dict__", {})
        hooks = {key: len(value) for key, value in own.items() if "hooks" in key and isinstance(value, dict) and value}
        found[f"module {path} {name}"] = [_named(type(one)), one.training, hooks, sorted(own)]
    for kind in ("parameters", "buffers"):
        for name, tensor in getattr(module, f"named_{kind}")():
            found[f"{kind} {path} {name}"] = _tensor(torch, tensor)
    return found


def _optimizer(torch: Any, optimizer: Any) -> Any:
    state = [
        {key: _tensor(torch, one) if isinstance(one, torch.Tensor) else repr(one) for key, one in kept.items()}
        for kept in optimizer.state.values()
        if isinstance(kept, dict)
    ]
    groups = [{key: repr(one) for key, one in group.items() if key != "params"} for group in optimizer.param_groups]
    own = vars(optimizer)
    hooks = {key: len(value) for key, value in own.items() if "hooks" in key and isinstance(value, dict) and value}
    return [_named(type(optimizer)), _named(optimizer.step), sorted(own), hooks, groups, state]


def _tensor(torch: Any, tensor: Any) -> Any:
    """The bits, and what else a user could see of it."""
    if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
        return "uninitialized"
    hooks = getattr(tensor, "_backward_hooks", None), getattr(tensor, "_post_accumulate_grad_hooks", None)
    grad = tensor.grad if tensor.is_leaf else None
    about = [type(tensor).__name__, str(tensor.dtype), str(tensor.device), tensor.requires_grad]
    node = None if tensor.grad_fn is None else type(tensor.grad_fn).__name__
    # The engine adds gradients in place or not by who else holds them, so theirs says nothing.
    version = tensor._version if tensor.is_leaf and tensor.requires_grad else None
    made = [_bytes_of(torch, tensor), *about, version, node, [len(one) if one else 0 for one in hooks]]
    return [*made, None if grad is None else _bytes_of(torch, grad)]


def _bytes_of(torch: Any, tensor: Any) -> str:
    try:
        with torch._C.DisableTorchFunctionSubclass(), torch.no_grad():
            plain = tensor.detach()
            if plain.layout != torch.strided or plain.is_nested:
                return _hashed(str(plain).encode())
            if plain.is_quantized:
                plain = plain.int_repr()
            shape = list(plain.shape)
            flat = plain.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
            return f"{shape} {_hashed(flat.numpy().tobytes())}"
    except Exception as error:  # a meta tensor, a subclass without storage: its words
        return f"{type(error).__name__} {tensor.shape}"


def _hashed(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
