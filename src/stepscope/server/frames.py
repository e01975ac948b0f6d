"""The page that plotly figures are drawn in: a frame that can run what it carries, and reach nothing.

Figures come from runs, and plotly is five megabytes of third-party code that reads them. So both run in a frame
with an origin of its own: it has no cookies, cannot see our page, and its policy forbids every request. The figure
comes in as a message and the only thing that goes out is that it was drawn.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache

FIGURE_FRAME = "/frames/figure.html"
"""Its address carries plotly's version as a query, so a copy never goes stale."""

_SCRIPT = re.compile(rb"<script[^>]*>(.*?)</script>", re.DOTALL)


@lru_cache(maxsize=2)
def frame_headers(page: bytes) -> dict[str, str]:
    """The policy for the frame: the scripts that are in it and no others, its styles, pictures it holds itself."""
    hashes = [hashlib.sha256(script).digest() for script in _SCRIPT.findall(page)]
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes) or "'none'"
    policy = [
        "sandbox allow-scripts",
        "default-src 'none'",
        f"script-src {scripts}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "frame-ancestors 'self'",
        "form-action 'none'",
        "base-uri 'none'",
    ]
    return {"content-security-policy": "; ".join(policy), "x-frame-options": "SAMEORIGIN"}
