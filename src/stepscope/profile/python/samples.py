"""What a sampler saw: stacks and how long each was there; made into a call tree and into times of lines."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType

from stepscope.profile.python.call_tree import label
from stepscope.profile.python.tree_builder import TreeBuilder
from stepscope.records.profile import Stack

_IDLE = {
    ("threading.py", "wait"),
    ("threading.py", "_wait_for_tstate_lock"),
    ("queue.py", "get"),
    ("selectors.py", "select"),
    ("connection.py", "wait"),
    ("connection.py", "_recv"),
    ("connection.py", "poll"),
    ("connection.py", "_poll"),
    ("thread.py", "_worker"),
    ("socketserver.py", "serve_forever"),
    ("popen_fork.py", "poll"),
}
"""Where threads stand that have nothing to do."""


@dataclass
class Samples:
    """Stacks by how long they were seen."""

    time_ns: dict[tuple[int, ...], int] = field(default_factory=dict)
    """(thread, code, place, code, place ...), innermost first -> nanoseconds."""
    codes: dict[int, CodeType] = field(default_factory=dict)
    threads: dict[int, str] = field(default_factory=dict)
    looks: int = 0
    wall_ns: int = 0
    cost_ns: int = 0

    @staticmethod
    def name_of(thread: int) -> str:
        known = threading._active.get(thread)  # type: ignore[attr-defined]
        return known.name if known is not None else f"thread {thread}"

    @property
    def cost(self) -> float:
        """The part of the time that looking took."""
        return self.cost_ns / self.wall_ns if self.wall_ns else 0.0

    def stack(self, *, id: str, title: str) -> Stack:
        """The call tree, with the times of lines; threads are its roots when several were at work."""
        builder = TreeBuilder()
        idle: set[str] = set()
        busy: dict[int, list[tuple[tuple[int, ...], int]]] = {}
        for key, nanoseconds in self.time_ns.items():
            if key[0] != threading.main_thread().ident and self._is_idle(key):
                idle.add(self._thread_name(key[0]))
            else:
                busy.setdefault(key[0], []).append((key, nanoseconds))
        for thread in [one for one, seen in busy.items() if len(seen) == 1 and self._is_foreign(one)]:
            idle.add(self._thread_name(thread))  # it never moved: it is inside a read, and nobody knows it
            del busy[thread]
        for thread, seen in busy.items():
            above = [(self._thread_name(thread), "", 0, 0)] if len(busy) > 1 else []
            for key, nanoseconds in seen:
                builder.add(above + self._frames(key), float(nanoseconds))
        return builder.stack(id=id, title=title, notes=self._notes(idle - {self._thread_name(t) for t in busy}))

    def own_lines(self, is_own: Callable[[CodeType], bool], inside: str) -> dict[tuple[str, int, str], int]:
        """Time by (file, line, function), of what a function of this name has called.

        A stack counts for the innermost line whose code is one's own, whatever library that line has called; where
        there is none, for the function that was called first, without a line.
        """
        found: dict[tuple[str, int, str], int] = {}
        for key, nanoseconds in self.time_ns.items():
            codes = [self.codes[one] for one in key[1::2]]
            names = [code.co_name for code in codes]
            if inside not in names:
                continue
            within = codes[: names.index(inside)]
            at = next((place for place, code in enumerate(within) if is_own(code)), None)
            if at is not None:
                code = within[at]
                line = (
                    code.co_filename,
                    self.line_of(code, key[2 + 2 * at]),
                    getattr(code, "co_qualname", code.co_name),
                )
            else:
                line = ("", 0, within[-1].co_name if within else inside)
            found[line] = found.get(line, 0) + nanoseconds
        return found

    def _frames(self, key: tuple[int, ...]) -> list[tuple[str, str, int, int]]:
        """(label, file, first line, line) from the outermost frame inwards."""
        found = []
        for at in range(len(key) - 2, 0, -2):
            code = self.codes[key[at]]
            name = getattr(code, "co_qualname", code.co_name)
            function = (code.co_filename, code.co_firstlineno, name)
            found.append((label(function), code.co_filename, code.co_firstlineno, self.line_of(code, key[at + 1])))
        return found

    def line_of(self, code: CodeType, place: int) -> int:
        known = self._lines.get((id(code), place))
        if known is None:
            known = next((line for a, b, line in code.co_lines() if a <= place < b and line), code.co_firstlineno)
            self._lines[id(code), place] = known
        return known

    _lines: dict[tuple[int, int], int] = field(default_factory=dict)

    def _is_idle(self, key: tuple[int, ...]) -> bool:
        code = self.codes[key[1]]
        return (os.path.basename(code.co_filename), code.co_name) in _IDLE

    def _is_foreign(self, thread: int) -> bool:
        """Not started through `threading`: by a library, for its own ends."""
        return self._thread_name(thread) == f"thread {thread}" and thread != threading.main_thread().ident

    def _thread_name(self, thread: int) -> str:
        return self.threads.get(thread, f"thread {thread}")

    def _notes(self, idle: set[str]) -> list[str]:
        if not self.looks:
            return ["Nothing was sampled: it ended before the first sample."]
        every_ms = self.wall_ns / self.looks * 1e-6
        notes = [
            f"{self.looks} stack samples, one every {every_ms:.1f} ms; "
            f"sampling took about {self.cost * 100:.1f}% of the time."
        ]
        if idle:
            notes.append(f"Threads that only waited are not shown: {', '.join(sorted(idle))}.")
        return notes
