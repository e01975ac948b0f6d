"""Images of the runs side by side, at a step, with a slider."""

from __future__ import annotations

from stepscope.views.panels import media
from stepscope.views.panels._asked import keys_of, need_keys
from stepscope.views.report.panel import Bound, PanelKind

_KINDS = {"image", "figure", "video"}


def check(bound: Bound) -> None:
    need_keys(bound, [bound.options.key] if bound.options.key else [], keys_of(bound, _KINDS))


PANEL = PanelKind(
    "image", "Images of the runs side by side, at a step", media.MediaOptions, media.pack, media.write, check
)
