"""A custom chart as a Vega-Lite specification."""

from __future__ import annotations

import msgspec

from stepscope.errors import UsageError
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures

LARGEST = 20_000


class VegaOptions(Options, kw_only=True):
    spec: str = ""
    """The specification as JSON. Its data is named `runs` or `points`; it can fetch nothing."""
    key: str | list[str] = ""
    """The metrics whose points are in `points`."""


def check(bound: Bound) -> None:
    spec = bound.options.spec
    if not spec:
        raise UsageError("vega needs spec, a Vega-Lite specification as JSON")
    if len(spec) > LARGEST:
        raise UsageError(f"the specification has {len(spec):,} characters; the maximum is {LARGEST:,}")
    try:
        found = msgspec.json.decode(spec)
    except msgspec.DecodeError as error:
        raise UsageError(f"the specification is not valid JSON: {error}; check it with a JSON validator") from None
    if not isinstance(found, dict):
        raise UsageError('the specification must be a JSON object, such as {"mark": "bar"}')


def pack(bound: Bound, packing: Packing) -> None:
    packing.leave_out("Vega-Lite panels are drawn in the app only.")


def write(bound: Bound, out: Pictures) -> str:
    """The specification itself: Markdown viewers that support Vega-Lite draw it."""
    return "\n".join(["```vega-lite", bound.options.spec.replace("```", "'''"), "```", ""])


PANEL = PanelKind("vega", "A chart of your own, in Vega-Lite", VegaOptions, pack, write, check)
