"""Log lines of a server: words for a person, or one JSON object a line for a program that collects them."""

from __future__ import annotations

import logging
from typing import Literal

import msgspec

LogFormat = Literal["text", "json"]


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        line = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **facts,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def log_to_stderr(kind: LogFormat, *, access: bool = False) -> logging.Handler:
    """Send our log lines to stderr; `access` adds one for each request. Returns the handler, to take it away again."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Json() if kind == "json" else logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    ours = logging.getLogger("stepscope")
    ours.addHandler(handler)
    ours.setLevel(logging.INFO)
    logging.getLogger("stepscope.access").setLevel(logging.INFO if access else logging.WARNING)
    return handler
