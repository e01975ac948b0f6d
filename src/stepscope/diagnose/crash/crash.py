"""`Crash`: an exception with everything that can be read off it, each part worked out when first asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader

from stepscope.diagnose.crash.frames import MISSING, Frame, frames_of, held_by
from stepscope.diagnose.crash.layers import Layer, layers_of
from stepscope.diagnose.crash.operation import Operation, operation_of
from stepscope.diagnose.crash.syntax import parents_of
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.trail import Failed
    from stepscope.evidence.visits import Visit

__all__ = ["Crash", "Ghost", "WorkerFrame", "crash_of", "running_loader"]


@dataclass(frozen=True)
class WorkerFrame:
    """A frame of a DataLoader worker, known only by its text."""

    file: str
    line: int
    function: str

    @property
    def site(self) -> Site:
        return Site(file=self.file, line=self.line, function=self.function)


class Ghost:
    """A tensor that is gone, or was never a variable: what the trail kept of it."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.shape = torch.Size(origin.shape)
        self.ndim = len(origin.shape)
        self.dtype = getattr(torch, origin.dtype)
        self.device = torch.device(origin.device)
        self.requires_grad = origin.requires_grad
        self.grad_fn = None


class Crash:
    """What ended the script.

    `watcher` holds what was watched before: the trail of the tensors, the visits of the layers. None: nothing was.
    """

    def __init__(self, error: BaseException, watcher: Any = None) -> None:
        self.raised = error
        self.error = _root_of(error)
        self.watcher = watcher
        self.grad_enabled = torch.is_grad_enabled()

    def origin(self, tensor: Any) -> Origin | None:
        """How a tensor came to be, where the trail saw it."""
        if isinstance(tensor, Ghost):
            return tensor.origin
        return None if self.watcher is None else self.watcher.trail.known(tensor)

    @property
    def failed(self) -> Failed | None:
        """The op that raised, where the trail saw it raise this very exception."""
        found = None if self.watcher is None else self.watcher.trail.failed
        # Torch's exceptions cannot be referenced weakly, so the trail kept what this one said.
        if found is None or found.said != f"{type(self.error).__name__}: {_text_of(self.error)}":
            return None
        return found  # type: ignore[no-any-return]

    @property
    def visits(self) -> list[Visit]:
        """The layers of the model's last call, in order."""
        return [] if self.watcher is None else list(self.watcher.visits.latest)

    @cached_property
    def frames(self) -> list[Frame]:
        return frames_of(self.error.__traceback__)

    @cached_property
    def own(self) -> list[Frame]:
        """The user's own frames, outermost first."""
        return [frame for frame in self.frames if frame.own]

    @property
    def last(self) -> Frame | None:
        """The innermost frame of the user's own code."""
        return self.own[-1] if self.own else None

    @property
    def site(self) -> Site | None:
        """The crash line: often not the cause."""
        return None if self.last is None else self.last.site

    @cached_property
    def message(self) -> str:
        """What the exception says, lower case; of a worker's exception its own words, without the traceback."""
        text = _text_of(self.error)
        return (text if self.worker is None else text.strip().rpartition("\n")[2]).lower()

    def says(self, *patterns: str) -> bool:
        """Whether the message holds one of these regular expressions (written in lower case)."""
        return any(re.search(pattern, self.message) for pattern in patterns)

    @cached_property
    def operation(self) -> Operation | None:
        return operation_of(self.frames)

    @cached_property
    def operands(self) -> list[tuple[str, Any]]:
        """The tensors the failing operation was given, with their names; ghosts of those that are no variables."""
        found = [] if self.operation is None else self.operation.tensors
        failed = self.failed
        if failed is None or len(failed.origins) <= len(found):
            return found
        names = [] if self.operation is None else [operand.name for operand in self.operation.operands]
        seen: list[tuple[str, Any]] = []
        for index, origin in enumerate(failed.origins):
            alive = next(((name, t) for name, t in found if self.origin(t) is origin), None)
            name = names[index] if len(names) == len(failed.origins) else f"argument {index + 1}"
            seen.append(alive or (name, Ghost(origin)))
        return seen

    @cached_property
    def layers(self) -> list[Layer]:
        return layers_of(self.frames)

    @property
    def layer(self) -> Layer | None:
        """The innermost layer that was running."""
        return self.layers[-1] if self.layers else None

    @cached_property
    def worker(self) -> list[WorkerFrame] | None:
        """The frames inside a DataLoader worker that failed; None when it was not a worker."""
        text = _text_of(self.error)
        if "DataLoader worker process" not in text and "Original Traceback" not in text:
            return None
        lines = re.findall(r'File "([^"]+)", line (\d+), in (\S+)', text)
        return [WorkerFrame(file, int(line), function) for file, line, function in lines]

    def frame_before(self, frame: Frame) -> Frame | None:
        """The user's frame that called this one, directly or through torch."""
        at = self.frames.index(frame) if frame in self.frames else 0
        return next((before for before in reversed(self.frames[:at]) if before.own), None)

    def values(self) -> Iterator[tuple[str, Any, Frame]]:
        """Every variable of the user's own frames and of the objects whose methods they run, innermost first."""
        seen: set[int] = set()
        for frame in reversed(self.own):
            owner = frame.locals.get("self")
            held = {} if owner is None or isinstance(owner, torch.nn.Module) else held_by(owner)
            for before, names in (("", frame.locals), ("self.", held), ("", frame.globals)):
                if id(names) not in seen:
                    seen.add(id(names))
                    for name, value in list(names.items()):
                        yield before + str(name), value, frame

    @cached_property
    def loaders(self) -> list[DataLoader[Any]]:
        """The loaders the user's frames know, the one being iterated first."""
        running = [loader for frame in reversed(self.own) if (loader := running_loader(frame)) is not None]
        known = [value for _, value, _ in self.values() if isinstance(value, DataLoader)]
        torchs = [v for f in self.frames for v in f.locals.values() if isinstance(v, DataLoader)]
        return list({id(loader): loader for loader in [*running, *torchs, *known]}.values())

    @cached_property
    def datasets(self) -> list[Any]:
        """The datasets in play: of a fetcher that was at work, then of the loaders."""
        owners = [frame.locals.get("self") for frame in reversed(self.frames) if "torch/utils/data" in frame.file]
        fetched = [held["dataset"] for held in map(held_by, owners) if "dataset" in held]
        return [*fetched, *(loader.dataset for loader in self.loaders)]


def crash_of(error: BaseException, evidence: Evidence) -> Crash:
    """The crash, with what was watched before it."""
    return Crash(error, evidence.watcher)


def running_loader(frame: Frame) -> DataLoader[Any] | None:
    """The loader of the innermost `for` around the line that was running."""
    parents = parents_of(frame.file)
    node = frame.running
    while node is not None:
        if isinstance(node, (ast.For, ast.AsyncFor)):
            for part in ast.walk(node.iter):
                value = frame.value_of(part) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) else MISSING
                if isinstance(value, DataLoader):
                    return value
        node = parents.get(node)
    return None


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of the user's own whose __str__ fails: there is nothing to read then
        return ""


def _root_of(error: BaseException) -> BaseException:
    """The exception to explain: what was raised first, where one was raised from another or several in a group."""
    seen: set[int] = set()
    while id(error) not in seen:
        seen.add(id(error))
        parts = getattr(error, "exceptions", None)
        if isinstance(parts, tuple) and parts and isinstance(parts[0], BaseException):
            error = parts[0]
        elif error.__cause__ is not None and error.__cause__.__traceback__ is not None:
            error = error.__cause__
    return error
