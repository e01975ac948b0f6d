"""The exceptions of decoding untrusted bytes."""

from __future__ import annotations

import msgspec

MALFORMED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""msgspec's own errors, invalid UTF-8, and unbounded nesting; the last two are not among the first."""
