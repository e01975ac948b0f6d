"""The small pages before the app: sign-in, an invitation, a dead link, a refusal.

They have no script and load nothing; their one style sheet is in the page, and the policy names its hash.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape

from starlette.responses import HTMLResponse

from stepscope.server.headers import CONTENT_POLICY

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --page: #f6f7f9; --card: #fff; --line: #d5dae0;
  --press: #1f5fbf; --on-press: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a2abb5; --page: #14171b; --card: #1c2026;
  --line: #343a42; --press: #7fb0ff; --on-press: #10151c } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 440px; padding: 32px; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px }
small { color: var(--soft); font-weight: 600; font-size: 13px }
h1 { margin: 4px 0 12px; font-size: 22px; line-height: 1.25; overflow-wrap: anywhere }
p { margin: 0 0 12px; color: var(--soft); overflow-wrap: anywhere }
p:last-child { margin-bottom: 0 }
a { color: var(--press) }
code { color: var(--ink); font-size: 14px }
button, .button { display: inline-block; margin-top: 8px; padding: 9px 18px; border: 0; border-radius: 8px;
  background: var(--press); color: var(--on-press); font: inherit; font-weight: 600; text-decoration: none;
  cursor: pointer }
button:focus-visible, a:focus-visible { outline: 2px solid var(--press); outline-offset: 2px }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = CONTENT_POLICY.replace("style-src 'self'", f"style-src 'sha256-{_HASH}'")


def plain_page(title: str, body: str, status: int = 200, *, head: str = "", form: bool = False) -> HTMLResponse:
    """A page of a heading and `body`, which is HTML. `form`: it may send a form to this server."""
    policy = _POLICY.replace("form-action 'none'", "form-action 'self'") if form else _POLICY
    headers = {"content-security-policy": policy}
    if form:
        headers["referrer-policy"] = "same-origin"  # without a referrer, browsers send the form's origin as "null"
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="robots" content="noindex">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">{head}<title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><main><small>Stepscope</small><h1>{escape(title)}</h1>{body}</main></html>"
    )
    return HTMLResponse(text, status, headers)
