"""`Crash`: the record of an exception with everything that can be read off it, each part when first asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from stepscope.common.syntax import parents_of
from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.diagnose.crash.layers import Layer, layers_of
from stepscope.diagnose.crash.operation import Operation, operation_of
from stepscope.evidence import crash
from stepscope.evidence.frame_values import Held, HeldLoader, HeldTensor
from stepscope.evidence.tensor_history import Failed
from stepscope.records.step import Site


class Crash(crash.Crash):
    """What ended the script, as rules read it."""

    frames: list[Frame]  # type: ignore[assignment]

    @classmethod
    def reading(cls, seen: crash.Crash) -> Crash:
        made = cls.__new__(cls)
        made.__dict__.update(vars(seen))
        made.frames = [Frame.reading(frame, seen.modules) for frame in seen.frames]
        return made

    @property
    def failed(self) -> Failed | None:
        """The op that raised, where the trail saw it raise this very exception."""
        found = self.failed_op
        return found if found is not None and found.said == f"{self.type}: {self.text}" else None

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
        return (self.text if self.worker is None else self.text.strip().rpartition("\n")[2]).lower()

    def says(self, *patterns: str) -> bool:
        """Whether the message holds one of these regular expressions (written in lower case)."""
        return any(re.search(pattern, self.message) for pattern in patterns)

    @cached_property
    def operation(self) -> Operation | None:
        return operation_of(self.frames)

    @cached_property
    def operands(self) -> list[tuple[str, HeldTensor]]:
        """The tensors the failing operation was given, with their names; of those that are gone, what is left."""
        found = [] if self.operation is None else self.operation.tensors
        failed = self.failed
        if failed is None or len(failed.origins) <= len(found):
            return found
        names = [] if self.operation is None else self.operation.written
        seen: list[tuple[str, HeldTensor]] = []
        for index, origin in enumerate(failed.origins):
            alive = next(((name, t) for name, t in found if t.origin is origin), None)
            name = names[index] if len(names) == len(failed.origins) else f"argument {index + 1}"
            seen.append(alive or (name, HeldTensor.left(origin)))
        return seen

    @cached_property
    def layers(self) -> list[Layer]:
        return layers_of(self.frames, self.modules)

    @property
    def layer(self) -> Layer | None:
        """The innermost layer that was running."""
        return self.layers[-1] if self.layers else None

    def frame_before(self, frame: Frame) -> Frame | None:
        """The user's frame that called this one, directly or through torch."""
        at = self.frames.index(frame) if frame in self.frames else 0
        return next((before for before in reversed(self.frames[:at]) if before.own), None)

    def values(self) -> Iterator[tuple[str, Any, Frame]]:
        """Every variable of the user's own frames and of the objects whose methods they run, innermost first."""
        seen: set[int] = set()
        for frame in reversed(self.own):
            owner = frame.locals.get("self")
            held = owner.attributes if isinstance(owner, Held) else {}
            for before, names in (("", frame.locals), ("self.", held), ("", frame.globals)):
                if id(names) not in seen:
                    seen.add(id(names))
                    for name, value in names.items():
                        yield before + name, value, frame

    @cached_property
    def loaders(self) -> list[HeldLoader]:
        """The loaders the user's frames know, the one being iterated first."""
        running = [loader for frame in reversed(self.own) if (loader := running_loader(frame)) is not None]
        known = [value for _, value, _ in self.values() if isinstance(value, HeldLoader)]
        torchs = [v for f in self.frames for v in f.locals.values() if isinstance(v, HeldLoader)]
        return list({id(loader): loader for loader in [*running, *torchs, *known]}.values())

    @cached_property
    def datasets(self) -> list[Any]:
        """The datasets in play: of a fetcher that was at work, then of the loaders."""
        owners = [frame.locals.get("self") for frame in reversed(self.frames) if "torch/utils/data" in frame.file]
        fetched = [_dataset_of(owner) for owner in owners if isinstance(owner, Held)]
        return [*(one for one in fetched if one is not None), *(loader.dataset for loader in self.loaders)]


def _dataset_of(owner: Held) -> Any:
    return owner.dataset if isinstance(owner, HeldLoader) else owner.attributes.get("dataset")


def running_loader(frame: Frame) -> HeldLoader | None:
    """The loader of the innermost `for` around the line that was running."""
    parents = parents_of(frame.file)
    node = frame.running
    while node is not None:
        if isinstance(node, (ast.For, ast.AsyncFor)):
            for part in ast.walk(node.iter):
                value = frame.value_of(part) if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) else MISSING
                if isinstance(value, HeldLoader):
                    return value
        node = parents.get(node)
    return None
