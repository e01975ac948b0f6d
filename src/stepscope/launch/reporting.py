"""Where findings go: to the terminal as they are proven, into the run, to the files that were asked for, to CI."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stepscope import fence
from stepscope.common import clocks
from stepscope.diagnose.settings import Settings
from stepscope.errors import StepscopeError
from stepscope.launch.options import Options
from stepscope.launch.status import raw_write
from stepscope.records import Event, Finding, FindingEvent
from stepscope.records.verdict import ScriptVerdict

HINTS, FINDINGS, ERRORS, CAUSE, CLOSING = range(1, 6)
"""The order of the notes at a crash; other notes come first, and what ended the script stands next to the prompt."""


class Reporter:
    """Takes findings from the engine. Only rank 0 speaks; every rank records."""

    def __init__(
        self,
        options: Options,
        settings: Settings,
        record: Callable[[Event], None],
        *,
        speaks: bool,
        script: str | None = None,
    ) -> None:
        self.findings: list[Finding] = []
        self.before_writing: Callable[[], None] = lambda: None
        """Called before something is written to the terminal: the status line makes way."""
        self._options = options
        self._settings = settings
        self._record = fence.fenced("recording a finding")(record)
        self._speaks = speaks
        self._script = script
        self._judged = ScriptVerdict(script=script or "")
        self._root = Path.cwd()
        self._held: list[tuple[int, str]] | None = None
        self._said: dict[tuple[str, str], str] = {}
        self._began = clocks.time()
        if "-" in (str(options.json), str(options.sarif)):  # on every rank: they share their standard output
            from stepscope.diagnose.outputs.write_output import keep_stdout

            fence.fenced("keeping the standard output")(keep_stdout)()
        if speaks:
            unwritable = self._try_files()
            if unwritable is not None:  # said before the training, not after it
                raise unwritable

    def keep(self, finding: Finding) -> Finding:
        """One finding, for the run and the files that were asked for; said by somebody else."""
        from stepscope.diagnose.excerpt import with_source

        finding = with_source(self._settings.with_severity(finding), began=self._began)
        self.findings.append(finding)
        self._record(FindingEvent(time=clocks.time(), finding=finding))
        if self._speaks:
            fence.fenced("writing findings to a file")(self._write_files)()
        return finding

    def take(self, finding: Finding) -> None:
        """One finding, proven just now."""
        finding = self.keep(finding)
        if not self._speaks:
            return
        if self._options.output == "lines":
            from stepscope.diagnose.outputs import lines

            self.say(lines.line(finding, self._root), FINDINGS)
        elif finding.severity != "info":
            self.say(self._in_full(finding), _order_of(finding))

    def _in_full(self, finding: Finding) -> str:
        """The finding as it is printed: the same words of another line are not printed again, only the line."""
        from stepscope.diagnose.show import place_of, render, terminal_width, wants_color

        place = place_of(finding.file or "", finding.line, self._root)
        if self._said.setdefault((finding.rule, finding.message), place) != place:
            return f"{finding.severity}[{finding.rule}]: the same at {place}"
        return render(finding, color=wants_color(sys.stderr), width=terminal_width(sys.stderr), root=self._root)

    def say(self, text: str, order: int = 0) -> None:
        """Text for the person at the terminal, on stderr, past the recording of what the script prints."""
        if self._held is not None:
            self._held.append((order, text))
        elif self._speaks and sys.stderr is not None:
            self.before_writing()
            raw_write(sys.stderr, text + "\n")

    @contextmanager
    def after(self) -> Iterator[Callable[[], None]]:
        """Hold back messages until the given function is called: the traceback first, and the cause next to the
        prompt.

        Then warnings come before errors, and the closing line is the last.
        """
        self._held = []

        try:
            yield self.release
        finally:
            self.release()

    def release(self) -> None:
        """Say what was kept back, and from now on everything at once."""
        held, self._held = self._held or [], None
        for _, text in sorted(held, key=lambda one: one[0]):
            self.say(text)

    def speak(self, yes: bool) -> None:
        """Of several ranks that fail, the one that failed first speaks, whichever it is."""
        self._speaks = yes

    def note(self, text: str, order: int = 0) -> None:
        """One line from us."""
        if not self._options.quiet:
            self.say(f"stepscope: {text}", order)

    def say_hints(self) -> None:
        """What is only a hint, one line each: right as far as it goes, and no reason to stop."""
        from stepscope.diagnose.show import hint_lines, terminal_width

        hints = [one for one in self.findings if one.severity == "info"]
        if hints and not self._options.quiet and self._options.output != "lines":
            self.say("\n".join(hint_lines(hints, terminal_width(sys.stderr), self._root)), HINTS)

    @fence.fenced("writing findings to a file")
    def _try_files(self) -> StepscopeError | None:
        """Why a file cannot be written, where the user can fix it; an internal error must not stop a training."""
        try:
            self._write_files()
        except StepscopeError as error:
            return error
        return None

    def _write_files(self) -> None:
        if self._options.json is not None and str(self._options.json) != "-":
            self._write_json(self._root / self._options.json)
        if self._options.sarif is not None and str(self._options.sarif) != "-":
            self._write_sarif(self._root / self._options.sarif)

    def _write_sarif(self, path: str | Path) -> None:
        from stepscope.diagnose.outputs import sarif

        sarif.write(self.findings, path, self._root, self._script)

    def _write_json(self, path: str | Path) -> None:
        from stepscope.diagnose.outputs import json as json_output

        command = "check" if self._options.check else "run"
        json_output.write(self.findings, path, self._root, command=command, scripts=[self._judged])

    @fence.fenced("writing findings for other programs")
    def close(self, judged: ScriptVerdict | None = None) -> None:
        """The script is over: what goes to the standard output goes now, and the verdict into the file."""
        if not self._speaks:
            return
        self._judged = judged or self._judged
        if self._options.json is not None:
            self._write_json("-" if str(self._options.json) == "-" else self._root / self._options.json)
        if self._options.sarif is not None and str(self._options.sarif) == "-":
            self._write_sarif("-")
        if os.environ.get("GITHUB_ACTIONS"):
            from stepscope.diagnose.outputs import github

            checkout = Path(os.environ.get("GITHUB_WORKSPACE") or self._root)
            github.write([one for one in self.findings if one.severity != "info"], "-", checkout)

    @property
    def fails(self) -> bool:
        """Whether `--strict` makes this a failure: what is found does, advice on speed does not."""
        strict = self._options.diagnose and (self._options.strict or self._settings.strict)
        return strict and any(finding.severity != "info" for finding in self.findings)


def by_severity(findings: list[Finding]) -> str:
    """How many of each severity, in words.

    >>> by_severity([Finding(rule="a.b", severity=one, message="") for one in ("error", "info")])
    '1 error, 1 hint'
    """
    names = {"error": "error", "warning": "warning", "info": "hint"}
    found = Counter(finding.severity for finding in findings)
    parts = [f"{found[kind]} {name}{'s' * (found[kind] != 1)}" for kind, name in names.items() if found[kind]]  # type: ignore[index]
    return ", ".join(parts)


def _order_of(finding: Finding) -> int:
    from stepscope.diagnose.rule import is_about_a_crash

    if finding.severity != "error":
        return FINDINGS
    return CAUSE if is_about_a_crash(finding.rule) else ERRORS
