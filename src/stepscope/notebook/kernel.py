"""The current notebook kernel, found without importing IPython: in a kernel it is already loaded."""

from __future__ import annotations

import os
import sys
from typing import Any, Literal

Frontend = Literal["jupyter", "vscode", "colab"]


def shell() -> Any | None:
    """The IPython shell of an interactive notebook kernel; None in a terminal, a script, a daemon."""
    ipython = sys.modules.get("IPython")
    if ipython is None or ("ipykernel" not in sys.modules and "google.colab" not in sys.modules):
        return None
    find = getattr(ipython, "get_ipython", None)
    found = None if find is None else find()
    publisher = getattr(found, "display_pub", None)
    if getattr(found, "kernel", None) is None or publisher is None:
        return None
    return found if getattr(publisher, "parent_header", None) else None  # without one this is not interactive


def frontend() -> Frontend:
    """The front end that shows the outputs, as far as a kernel can tell; each shows plain HTML, but frames differ."""
    if "google.colab" in sys.modules:
        return "colab"
    names = getattr(shell(), "user_ns", {})
    return "vscode" if "VSCODE_PID" in os.environ or "__vsc_ipynb_file__" in names else "jupyter"


def publish(bundle: dict[str, str], display_id: str, update: bool) -> bool:
    """Show a bundle under the running cell, or replace the one with this id. False if there is no front end.

    Uses the shell's own publisher, which is thread-safe and knows the running cell: tools that run notebooks without
    a browser accept updates only from it.
    """
    found = shell()
    if found is None:
        return False
    found.display_pub.publish(data=bundle, metadata={}, transient={"display_id": display_id}, update=update)
    return True
