"""`%stepscope ui`: the browser app inside the notebook, from a server that lives as long as the kernel."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from stepscope.notebook.kernel import frontend
from stepscope.notebook.parts import box, safe, soft

HEIGHT = 720
_open: dict[tuple[Path, ...], Any] = {}
_stack = ExitStack()


def server_for(stores: tuple[Path, ...]) -> Any:
    """The kernel's server for these stores: a running one, or a new one on a free local port."""
    if stores not in _open:
        from stepscope.server.serve import running
        from stepscope.server.settings import Settings

        if not _open:
            atexit.register(stop)
        settings = Settings(token=_new_token(), framed=True)
        _open[stores] = _stack.enter_context(running(list(stores), settings))
    return _open[stores]


def _new_token() -> str:
    import secrets

    return secrets.token_urlsafe(24)


def page_of(run: Path) -> str | None:
    """The page of a run on a server of this kernel, if one serves its store."""
    for known, server in _open.items():
        if run.parent.absolute() in known:
            return f"http://localhost:{server.url.rpartition(':')[2]}/run/{run.name}"
    return None


def stop() -> int:
    """Stop the kernel's servers; returns how many there were."""
    count = len(_open)
    _open.clear()
    _stack.close()
    return count


def open_frame(stores: tuple[Path, ...], height: int = HEIGHT, host: str = "localhost") -> str:
    """HTML with the app in a frame. Its address contains a code that works once, within a minute: not the token, which
    would stay in the saved notebook."""
    server = server_for(stores)
    port = server.url.rpartition(":")[2]
    where = f"http://{host}:{port}"
    tab = f'<a href="{where}/?token={server.code()}" target="_blank" rel="noopener">open it in a tab</a>'
    words = soft(f"{tab} (the link works once, for a minute) · <code>%stepscope ui --stop</code> ends the server")
    if frontend() == "jupyter":
        frame = (
            f'<iframe src="{where}/?token={server.code()}" title="Stepscope" '
            f'style="width:100%;height:{height}px;border:1px solid #8885;border-radius:8px"></iframe>'
        )
        far = soft(
            f"a frame that stays empty: the kernel is elsewhere; <code>ssh -L {port}:localhost:{port}</code> brings it"
        )
        return f'{frame}<div style="font-size:11.5px">{words} · {far}</div>'
    if frontend() == "colab":
        line = f"from google.colab import output; output.serve_kernel_port_as_window({port})"
        return box(f"Colab keeps frames from other ports out. Run <code>{safe(line)}</code>, or bring the folder home.")
    return box(f"VS Code blocks cookies in frames, so the app opens in a separate tab: {words}")
