"""What decoding bytes from elsewhere can raise."""

from __future__ import annotations

import msgspec

__all__ = ["MALFORMED"]

MALFORMED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""msgspec's own errors, text that is no UTF-8, and values nested without end; the last two are not among the first."""
