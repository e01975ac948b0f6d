"""The frame of a chart: scales, rounded ticks, and a style for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from stepscope.common.units import duration
from stepscope.plain_text import clean

# The same as the app's (web/src/lib/color.ts): light, dark.
PALETTE = [
    ("#434dca", "#739cec"),
    ("#c97b00", "#fd9c23"),
    ("#039d8a", "#0ad599"),
    ("#9f2878", "#d2669d"),
    ("#795f00", "#f1ff70"),
    ("#9c78eb", "#8c5fff"),
    ("#5f1a00", "#f5351f"),
    ("#140c57", "#e4c0ff"),
]
DASHES = ["", "7 4", "2 3", "10 3 2 3", "4 2"]
_FONT = "Inter,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Liberation Sans',sans-serif"
_LIGHT = {"page": "#ffffff", "text": "#17181c", "soft": "#55575f", "grid": "#ececf0", "axis": "#c6c7d0"}
_DARK = {"page": "#121316", "text": "#ececef", "soft": "#a9abb4", "grid": "#26282e", "axis": "#474a54"}
_LARGEST = 1e270
"""Beyond this the arithmetic of an axis would overflow; such values are drawn at its end."""
_LETTER = 6.6
"""Approximate width of a character in the legend."""


@dataclass(frozen=True)
class Scale:
    """From a value to a position, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        at = math.log10(max(value, self.low)) if self.log else value
        share = (at - low) / ((high - low) or 1.0)
        return self.start + min(1.05, max(-0.05, share)) * (self.end - self.start)

    def ticks(self, about: int) -> list[float]:
        if not self.log:
            return nice_ticks(self.low, self.high, about)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        every = max(1, (last - first) // about + 1)
        powers = [10.0**power for power in range(first, last + 1, every)]
        shown = [one for one in powers if self.low <= one <= self.high]
        return shown if len(shown) > 1 else nice_ticks(self.low, self.high, about)


def scale_for(values: Sequence[float], start: float, end: float, log: bool = False, pad: float = 0.04) -> Scale:
    """A scale that shows all of these values, with a little margin."""
    finite = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = min(finite, default=1.0 if log else 0.0), max(finite, default=1.0)
    least = 1 / _LARGEST if log else -_LARGEST
    low, high = min(max(low, least), _LARGEST), min(max(high, least), _LARGEST)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - (abs(low) or 1) * 0.5, high + (abs(high) or 1) * 0.5)
    elif log:
        room = 10.0 ** ((math.log10(high) - math.log10(low)) * pad)
        low, high = low / room, high * room
    else:
        low, high = low - (high - low) * pad, high + (high - low) * pad
    return Scale(low, high, start, end, log)


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from low to high.

    >>> nice_ticks(0, 1, 5), nice_ticks(3, 97, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [20.0, 40.0, 60.0, 80.0])
    """
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return [low]
    raw = span / max(1, about)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((power * factor for factor in (1, 2, 5) if power * factor >= raw * 0.7), power * 10)
    first = math.ceil(low / step - 1e-9)
    return [
        round(number * step, 12) + 0.0 for number in range(first, first + 50) if number * step <= high + step * 1e-9
    ]


def number(value: float) -> str:
    """A tick label.

    >>> [number(value) for value in (0.0, 1500.0, 2000000.0, 0.00012, 0.25)]
    ['0', '1.5k', '2M', '0.00012', '0.25']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"


def frame(x: Scale, y: Scale, x_words: str, seconds: bool = False, numbers: bool = True) -> list[str]:
    """Grid, tick labels and the axis' name; without `numbers` the y axis has no labels."""
    parts = []
    for tick in y.ticks(5) if numbers else []:
        at = y.place(tick)
        parts.append(f'<line class="g" x1="{x.start:.1f}" x2="{x.end:.1f}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="n e" x="{x.start - 8:.1f}" y="{at + 4:.1f}">{number(tick)}</text>')
    for tick in x.ticks(7):
        at = x.place(tick)
        words = duration(tick) if seconds else number(tick)
        parts.append(f'<line class="g" x1="{at:.1f}" x2="{at:.1f}" y1="{y.end:.1f}" y2="{y.start:.1f}"/>')
        parts.append(f'<text class="n m" x="{at:.1f}" y="{y.start + 18:.1f}">{words}</text>')
    parts.append(f'<line class="a" x1="{x.start:.1f}" x2="{x.end:.1f}" y1="{y.start:.1f}" y2="{y.start:.1f}"/>')
    parts.append(f'<text class="n m" x="{(x.start + x.end) / 2:.1f}" y="{y.start + 36:.1f}">{safe(x_words)}</text>')
    return parts


def legend(names: Sequence[tuple[str, str]], left: float, top: float, width: float) -> tuple[list[str], float]:
    """Names with their class, in as many rows as needed; returns the height."""
    parts, x, y = [], left, top
    for name, look in names:
        shown = _shortened(name)
        needed = 26 + len(shown) * _LETTER
        if x > left and x + needed > left + width:
            x, y = left, y + 20
        parts.append(f'<line class="l {look}" x1="{x:.1f}" x2="{x + 16:.1f}" y1="{y - 4:.1f}" y2="{y - 4:.1f}"/>')
        parts.append(f'<text class="k" x="{x + 22:.1f}" y="{y:.1f}">{safe(shown)}</text>')
        x += needed + 12
    return parts, y - top + 20 if names else 0.0


def style(hues: Sequence[int]) -> str:
    """The style rules of a drawing; `hues` are the palette indices it uses."""
    rules = [
        ".g{stroke:var(--grid)}.a{stroke:var(--axis)}.n{fill:var(--soft);font-size:11px}.k{fill:var(--soft);font-size:12px}"
        ".t{fill:var(--text);font-size:14px;font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}"
        ".p{fill:var(--page)}.l{fill:none;stroke-width:1.8;stroke-linejoin:round}.b{stroke:none;opacity:.18}"
        ".x{fill:none;stroke-width:1.5}"
    ]
    for hue in dict.fromkeys(hues):
        colour, dash = hue % len(PALETTE), DASHES[hue // len(PALETTE) % len(DASHES)]
        dashed = f";stroke-dasharray:{dash}" if dash else ""
        rules.append(f".h{hue}{{stroke:var(--h{colour}){dashed}}}.f{hue}{{fill:var(--h{colour})}}")
    rules.append("svg{" + _variables(_LIGHT, 0, hues) + "}")
    rules.append("@media (prefers-color-scheme:dark){svg{" + _variables(_DARK, 1, hues) + "}}")
    return f"<style>text{{font-family:{_FONT}}}{''.join(rules)}</style>"


def _variables(theme: dict[str, str], side: int, hues: Sequence[int]) -> str:
    colours = {hue % len(PALETTE): PALETTE[hue % len(PALETTE)][side] for hue in hues}
    return "".join(f"--{name}:{value};" for name, value in theme.items()) + "".join(
        f"--h{at}:{value};" for at, value in sorted(colours.items())
    )


def _shortened(name: str) -> str:
    return name if len(name) <= 48 else name[:47] + "…"


def safe(text: str) -> str:
    return escape(clean(text), quote=True)
