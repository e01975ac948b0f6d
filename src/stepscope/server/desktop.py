"""Alerts as notifications of the desktop that the server runs on, by the program that the system has for it."""

from __future__ import annotations

import shutil
import subprocess
import sys

from stepscope.errors import ConfigError
from stepscope.plain_text import clean
from stepscope.views.notice import Notice

TIMEOUT_S = 10.0
_SCRIPT = 'on run argv\ndisplay notification (item 2 of argv) with title "Stepscope" subtitle (item 1 of argv)\nend run'


class Desktop:
    """Texts are arguments of a program, never of a shell or a script: a run's name is only ever shown."""

    name = "desktop"

    def __init__(self) -> None:
        program = "osascript" if sys.platform == "darwin" else "notify-send"
        found = shutil.which(program)
        if found is None:
            raise ConfigError(
                f"--notify needs the program {program}, which is not here"
                + ("" if program == "osascript" else "; it is in the package libnotify-bin (Debian) or libnotify")
            )
        self._program = found

    def send(self, notice: Notice) -> str | None:
        """Show it; why it could not be shown, or None."""
        try:
            done = subprocess.run(self._command(notice), timeout=TIMEOUT_S, capture_output=True, check=False)
        except (OSError, subprocess.TimeoutExpired) as fault:
            return f"no notification could be shown: {type(fault).__name__}"
        return None if done.returncode == 0 else f"no notification could be shown: {self._program} failed"

    def _command(self, notice: Notice) -> list[str]:
        title, text = clean(notice.title)[:200], clean(notice.text)[:500] or clean(notice.name)[:200]
        if self._program.endswith("osascript"):
            return [self._program, "-e", _SCRIPT, "--", title, text]
        urgency = "critical" if notice.level == "error" else "normal"
        # The text may hold the little markup that notification servers know.
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return [self._program, "--app-name=Stepscope", f"--urgency={urgency}", "--", title, text]
