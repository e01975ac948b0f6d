"""Compilers: where the script calls one, and what we do then.

`torch.compile` gives code that may run at any time, and that would contain us: models and operations are not followed
from then on. `torch.export`, `torch.onnx.export`, `torch.jit` and `torch.fx` look only while they run: we are outside
meanwhile. Their doors are there while models or operations are followed, or somebody listens.
"""

from __future__ import annotations

import sys
from functools import cache, partial
from types import MethodType
from typing import Any, ClassVar

from stepscope.events import aside
from stepscope.events.imports import loaded, soon, waiting
from stepscope.events.installed import Installed
from stepscope.events.patches import caller
from stepscope.events.source import Source, compiled, tell

_WHILE_THEY_RUN = {
    "torch.export": ("export", "draft_export", "export_for_training"),
    "torch.onnx": ("export", "dynamo_export"),
    "torch.jit": ("trace", "trace_module", "script"),
    "torch._C": ("_create_graph_by_tracing", "_create_function_from_trace"),
    "torch.fx": ("symbolic_trace",),
    "torch.fx.experimental.proxy_tensor": ("make_fx",),
}


class Compilers(Source):
    """`hold(who)` keeps the doors there for a source that must not be seen by a compiler; `release(who)` ends that."""

    kinds: ClassVar[tuple[str, ...]] = ("compiled",)

    def __init__(self) -> None:
        super().__init__()
        self._installed = Installed()
        self._held: set[str] = set()
        self._is_there = False
        self._found: list[Any] = []
        """The modules that were patched, and who was to tell of later ones."""

    def install(self) -> None:
        if self._is_there:
            return
        self._is_there = True
        before, self._found = (
            self._found,
            [loaded("torch._dynamo.eval_frame"), *map(loaded, _WHILE_THEY_RUN), waiting()],
        )
        if before == self._found and self._installed.wake():
            return
        self._installed.wrap("torch:compile", self._for_good)
        soon("torch._dynamo.eval_frame", self._watch_dynamo)
        for module, names in _WHILE_THEY_RUN.items():
            soon(module, partial(self._watch_module, module, names))

    def remove(self) -> None:
        if not self._held and not self.compiled:
            self._is_there = False
            self._installed.rest()

    def hold(self, who: str) -> None:
        self._held.add(who)
        self.install()

    def release(self, who: str) -> None:
        self._held.discard(who)
        self.remove()

    def _watch_module(self, name: str, functions: tuple[str, ...], module: Any) -> None:
        if self._is_there:
            for function in functions:
                self._installed.wrap(*_outside_of(name, function))

    def _watch_dynamo(self, module: Any) -> None:
        """Whoever compiles without `torch.compile`: a library, `Module.compile`, an older API."""
        if self._is_there and hasattr(module, "OptimizeContext"):
            self._installed.wrap("torch._dynamo.eval_frame:OptimizeContext.__init__", self._for_good)

    def _for_good(self, original: Any) -> Any:
        def compile(*args: Any, **kwargs: Any) -> Any:
            frame = caller()
            aside.shut("torch.compile")
            tell(self.compiled, frame)
            return original(*map(_past_the_door, args), **kwargs)

        return compile


def _past_the_door(model: Any) -> Any:
    """`Module.compile` compiles the method that our door wraps, where the script means torch's own."""
    function: Any = getattr(model, "__func__", None)
    if compiled is None or type(function) is not compiled.Door:
        return model
    return MethodType(function.__wrapped__, model.__self__)


@cache
def _outside_of(module: str, function: str) -> tuple[str, Any]:
    """The point of a function and the layer around it: a recording puts a dozen on and takes them off."""
    around = _outside_of_script if function == "script" else _outside
    return f"{module}:{function}", partial(around, f"{module}.{function}")


def _outside(name: str, original: Any) -> Any:
    def outside(*args: Any, **kwargs: Any) -> Any:
        with aside.outside(name):
            return original(*args, **kwargs)

    return outside


def _outside_of_script(name: str, original: Any) -> Any:
    """`torch.jit.script` looks up what a class uses in the frame of its caller, so many frames up."""

    def outside(obj: Any, optimize: Any = None, _frames_up: int = 0, *args: Any, **kwargs: Any) -> Any:
        is_inner = sys._getframe(1).f_code is outside.__code__
        ours = 1 if is_inner else 2  # the outermost layer is called by the patch
        with aside.outside(name):
            return original(obj, optimize, _frames_up + ours, *args, **kwargs)

    return outside
