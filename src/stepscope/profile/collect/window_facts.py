"""What only the process itself knows of a window that has just stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope import fence

if TYPE_CHECKING:
    from stepscope.profile.collect.torch_window import TorchWindow


def look_at(window: TorchWindow) -> dict[str, Any]:
    """For the facts: the names of modules, and whose memory is where."""
    from stepscope.profile.collect.module_names import names_and_lines

    found: dict[str, Any] = {}
    if window.options.with_stack:
        found.update(fence.fenced("naming modules", default={})(names_and_lines)(window.live, window.paths))
    if window.options.profile_memory:
        found["storages"] = fence.call("finding whose memory is where", lambda: window.storages) or {}
    return found
