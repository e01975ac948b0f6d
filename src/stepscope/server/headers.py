"""The headers of every answer: nothing may frame, sniff, cache, leak or run what it should not."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",  # the page styles elements through the DOM, which needs no 'unsafe-inline'
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "frame-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)

SAFE = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), interest-cohort=()",
    "cache-control": "no-store",
}


_OWN_PAGES = "frame-ancestors http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*"
FRAMED = {
    **{name: value for name, value in SAFE.items() if name != "x-frame-options"},
    "content-security-policy": CONTENT_POLICY.replace("frame-ancestors 'none'", _OWN_PAGES),
}
"""The same for a server that a notebook on this machine shows in a frame. Its cookie still goes to no other site."""


class SafeHeaders:
    """Adds each of `SAFE` (or `FRAMED`) that an answer has not set itself."""

    def __init__(self, app: ASGIApp, framed: bool = False) -> None:
        self.app = app
        self._headers = FRAMED if framed else SAFE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=_with_headers(message))
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_safely if scope["type"] == "http" else send)


def _with_headers(message: Message) -> dict[str, Any]:
    message["headers"] = list(message.get("headers", ()))
    return message  # type: ignore[return-value]
