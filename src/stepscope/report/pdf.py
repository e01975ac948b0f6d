"""A report as PDF: its self-contained page, printed by a local browser without network access."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from stepscope.errors import MissingExtra, StepscopeError, StorageError
from stepscope.files.opening import read_file

NAMES = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
    "brave-browser",
]
_ELSEWHERE = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    r"C:\Program Files\Microsoft\Edge\Application\msedge.exe",
]
_LARGEST = 1 << 30
TIMEOUT_S = 90.0
_DRAWING_MS = 15_000
"""Virtual time the page gets to draw everything; the real time is shorter."""


_printing = threading.Lock()
"""One at a time: a browser uses a core and half a gigabyte."""


class NoBrowser(MissingExtra):
    """Printing needs a browser, and none was found."""

    def __init__(self) -> None:
        StepscopeError.__init__(
            self,
            "a PDF is printed by a browser, and none was found here; looked for Chromium, Chrome, Edge and Brave. "
            "Set $STEPSCOPE_BROWSER to one, or save the report as .html, open it, and print it from there",
        )


def find_browser() -> str | None:
    """A Chromium-based browser: `$STEPSCOPE_BROWSER`, else the first known one."""
    chosen = os.environ.get("STEPSCOPE_BROWSER")
    if chosen:
        return shutil.which(chosen)
    for name in NAMES:
        if found := shutil.which(name):
            return found
    return next((path for path in _ELSEWHERE if os.access(path, os.X_OK)), None)


def print_pdf(page: bytes, timeout_s: float = TIMEOUT_S) -> bytes:
    """The page as PDF. The browser gets a temporary profile and no network."""
    browser = find_browser()
    if browser is None:
        raise NoBrowser()
    with tempfile.TemporaryDirectory(prefix="stepscope-pdf-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, target = folder / "report.html", folder / "report.pdf"
        source.write_bytes(page)
        with _printing:
            said = _run([browser, *_switches(folder, target), source.as_uri() + "#print"], timeout_s)
        try:
            data = read_file(target, _LARGEST, within=folder)
        except OSError:
            data = b""
        if not data.startswith(b"%PDF-"):
            raise StorageError(
                f"{browser} made no PDF{': ' + said if said else ''}; save the report as .html and print it from there"
            )
        return data


def _switches(folder: Path, target: Path) -> list[str]:
    switches = [
        "--headless=new",
        "--disable-gpu",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-extensions",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--proxy-server=127.0.0.1:9",  # an address where nothing listens
        f"--user-data-dir={folder / 'profile'}",
        f"--virtual-time-budget={_DRAWING_MS}",
        "--run-all-compositor-stages-before-draw",
        "--no-pdf-header-footer",
        f"--print-to-pdf={target}",
    ]
    if sys.platform == "linux" and os.geteuid() == 0:  # Chromium's own sandbox refuses to start for root
        switches.append("--no-sandbox")
    return switches


def _run(command: list[str], timeout_s: float) -> str:
    """Run the browser to its end, or kill it with all its children; returns its last output."""
    quiet = {name: value for name, value in os.environ.items() if name not in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY")}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=quiet,
            start_new_session=os.name == "posix",
        )
    except OSError as error:
        raise StorageError(
            f"{command[0]} cannot be started: {error.strerror}; set $STEPSCOPE_BROWSER to another browser"
        ) from error
    try:
        _, said = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _end(process)
        raise StorageError(
            f"{command[0]} took longer than {timeout_s:.0f} s to print the report; save it as .html "
            "and print it from there"
        ) from None
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines and process.returncode else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
