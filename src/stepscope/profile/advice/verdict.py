"""The verdict: what training is bound by, and what to change, on one screen.

83% of each step is spent waiting for data (41 ms of 49 ms)
  1  train.py:34  the DataLoader runs in the main process while training waits for it
                  num_workers=4, persistent_workers=True: saves about 31 ms a step (2.7x)
  2  data.py:51   every sample is converted again, and the data is in memory already
                  convert once and keep it: saves about 22 ms a step (1.8x)
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.diagnose.excerpt import lines_of
from stepscope.diagnose.settings import Settings
from stepscope.diagnose.show import place_of
from stepscope.plain_text import clean
from stepscope.profile.advice.engine import Advised, advise, in_words
from stepscope.profile.advice.headline import Headline, headline
from stepscope.profile.advice.measured import Measured
from stepscope.profile.profile import Profile
from stepscope.records import Finding

MOST = 8
_BOLD, _QUIET, _GREEN, _CYAN = "1", "2", "32", "36"


@dataclass(frozen=True)
class Verdict:
    """`str(verdict)` is what is printed; `findings` is what is kept."""

    headline: Headline
    advised: list[Advised] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """In the order of the advice."""
    step_ns: int = 0
    notes: list[str] = field(default_factory=list)
    slow_lines: list[str] = field(default_factory=list)
    """Where the time goes, by line; shown where there is no advice."""

    def __str__(self) -> str:
        return self.text()

    @property
    def saving_ns(self) -> int:
        """What all of it together would save of a step, estimated: each tip saves its share of what the ones before
        it have left, and what two tips about the same part share is counted once."""
        left = 1.0
        for one in self.advised:
            left *= 1 - one.counted_ns / self.step_ns
        return int(self.step_ns * (1 - left))

    def text(self, *, color: bool = False, width: int = 100, root: Path | None = None, most: int = MOST) -> str:
        """The whole message, ending without a newline."""
        paint = _Paint(color)
        lines = textwrap.wrap(clean(self.headline.text), max(40, width)) or [""]
        lines = [paint(line, _BOLD) for line in lines]
        where = Path.cwd() if root is None else root
        places = [_place(one, where, max(12, width // 3)) for one in self.findings[:most]]
        indent = min(max((len(place) for place in places), default=0), max(12, width // 3))
        for number, (finding, place) in enumerate(zip(self.findings[:most], places, strict=True), 1):
            lines += _entry(number, finding, place, indent, self.step_ns, width, paint)
        if len(self.findings) > most:
            lines.append(f"  and {len(self.findings) - most} more, each smaller")
        if not self.findings and self.headline.kind != "none":
            lines.append(paint("  no advice: nothing that is known to help would save 2% of a step", _QUIET))
            lines += [paint(f"  {clean(line)}", _QUIET) for line in self.slow_lines]
        lines += [paint(line, _QUIET) for line in self._ending(width)]
        return "\n".join(lines)

    def _ending(self, width: int) -> list[str]:
        found = []
        numbered = [one for one in self.advised if one.counted_ns]
        if len(numbered) > 1 and self.step_ns:
            then = max(1, self.step_ns - self.saving_ns)
            factor = self.step_ns / then
            found.append(
                f"together: a step of about {in_words(then)} instead of {in_words(self.step_ns)} ({factor:.1f}x)"
            )
        found += self.notes
        if self.findings:
            found.append(f"stepscope explain {self.findings[0].rule} explains the first")
        return [line for one in found for line in textwrap.wrap(one, max(40, width))]


def verdict(profile: Profile, rank: int = 0, settings: Settings | None = None) -> Verdict:
    """The summary of a profile. Works from the profile's folder alone."""
    run = Measured(profile, rank)
    advised = advise(run, settings)
    findings = [one.finding for one in advised]
    return Verdict(headline(run), advised, findings, run.step_ns, _notes(run), _slow_lines(run))


def _slow_lines(run: Measured) -> list[str]:
    """The three lines with most of the time, and the phase each is in."""
    found = []
    for one in sorted(run.facts.get("lines", []), key=lambda line: -line["share"])[:3]:
        text = lines_of(one["file"])[one["line"] - 1 : one["line"]]
        code = f": {text[0].strip()}" if text else ""
        found.append(f"{one['share']:.0%} of the time in {Path(one['file']).name}:{one['line']}{code}")
    return found


def _notes(run: Measured) -> list[str]:
    why = str(run.facts.get("look", {}).get("why_not", ""))
    notes = [f"single lines were not measured: {why}"] if why else []
    notes += [f"tried and withdrawn: {one}" for one in run.withdrawn]
    notes += run.damaged
    if not run.facts and run.trace is not None and run.trace.events.header.fields.get("with_stack"):
        notes.append("the trace was recorded with stacks, which makes the host slower than it is")
    return notes


def _place(finding: Finding, root: Path, longest: int) -> str:
    """train.py:34, and of a path that would fill the line its end."""
    if not finding.file:
        return ""
    place = place_of(finding.file, finding.line, root)
    return place if len(place) <= longest else f"…/{Path(place).name}"


def _entry(
    number: int, finding: Finding, place: str, indent: int, step_ns: int, width: int, paint: _Paint
) -> list[str]:
    """Two lines or more: what and where; what to do and what that gains."""
    head = f"{number:3}  "
    room = max(30, width - len(head) - indent - 2)
    what = textwrap.wrap(clean(finding.message), room)
    then = textwrap.wrap(f"{clean(finding.fix)}: {gain_in_words(finding.evidence, step_ns)}", room)
    lines = []
    for at, line in enumerate(what):
        left = f"{head}{paint(place.ljust(indent), _CYAN)}" if at == 0 else " " * (len(head) + indent)
        if at == 0 and len(place) > indent:
            lines.append(left)
            left = " " * (len(head) + indent)
        lines.append(f"{left}  {line}" if indent else f"{left}{line}")
    space = " " * (len(head) + indent + (2 if indent else 0))
    return [*lines, *(space + paint(line, _GREEN) for line in then)]


def gain_in_words(evidence: dict[str, Any], step_ns: int) -> str:
    """Measured where it was tried, else estimated; always with a range.

    >>> gain_in_words({"saving_ms": 31.0, "gain_range": [1.6, 4.1]}, 49_000_000)
    'saves about 31 ms a step (2.7x; estimated, 1.6x to 4.1x)'
    >>> gain_in_words({"measured": {"gain": 3.1, "steps": 200, "noise": 0.04}}, 49_000_000)
    '3.1x, measured on 200 steps (3.0x to 3.2x)'
    >>> gain_in_words({"saving_ms": 31.0, "basis": "bound", "gain_range": [1.0, 2.72], "try_with": "tune-batch"}, 49)
    'at most 2.7x; only a trial can tell (tune-batch)'
    """
    low, high = evidence.get("gain_range") or (0.0, 0.0)
    tried = evidence.get("measured")
    if isinstance(tried, dict) and tried.get("gain"):
        gain, noise = float(tried["gain"]), float(tried.get("noise", 0))
        between = f"{_factor(gain * (1 - noise))} to {_factor(gain * (1 + noise))}"
        return f"{_factor(gain)}, measured on {tried['steps']} steps ({between})"
    if evidence.get("basis") == "bound":
        way = str(evidence.get("try_with") or "")
        return f"at most {_factor(high)}; only a trial can tell" + (f" ({way})" if way else "")
    saving = float(evidence.get("saving_ms", 0)) * 1e6
    if not saving:
        return "gain not known" if not evidence.get("gain") else str(evidence["gain"])
    left = max(step_ns - saving, step_ns / 20)
    factor = step_ns / left if step_ns else 1.0
    between = f"; estimated, {_factor(low)} to {_factor(high)}" if high else "; estimated"
    return f"saves about {in_words(saving)} a step ({_factor(factor)}{between})"


def _factor(value: float) -> str:
    """1.6x, and where a tenth says little 1.04x."""
    return f"{value:.1f}x" if value >= 1.15 else f"{value:.2f}x"


class _Paint:
    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.color and text.strip() else text
