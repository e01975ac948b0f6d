"""Sign in at an identity provider (OpenID Connect): the authorization code flow with PKCE, for browsers.

What a sign-in has to remember between its two requests is in a signed cookie of the browser, so any process of the
server can finish what another began. The id token is checked by joserfc: signature, issuer, audience, time and nonce.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from stepscope.database.engine import Database
from stepscope.errors import ConfigError, Forbidden, MissingExtra, StepscopeError
from stepscope.people.audit import note
from stepscope.people.caller import Role
from stepscope.people.oidc_users import Identity, user_for
from stepscope.people.tokens import SESSION_S, make_token
from stepscope.server.doors import cookie_name
from stepscope.server.plain_pages import plain_page

STARTED = "stepscope-login"
_STARTED_S = 600
_TIMEOUT_S = 10
_LARGEST = 1 << 20
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
"""No symmetric ones: a provider's public key must not be usable as a shared secret."""

# Our cookie goes to no request that began at another site, so the last step to the app begins at this page.
_ONWARD = '<meta http-equiv="refresh" content="0;url=/">'


class ProviderError(StepscopeError):
    """The identity provider did not answer, or not sensibly."""

    http_status = 502


@dataclass(frozen=True)
class Oidc:
    """The provider, and who may come in by it."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    role: Role | None = None
    """The role of newcomers in every project; None: only people whom an admin has added, by their mail address."""
    public_url: str | None = None
    """The server's address as browsers have it, where a proxy hides it from us."""

    def checked(self) -> Oidc:
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")):
            raise ConfigError(f"the identity provider {self.issuer!r} must have an https address")
        if not self.client_secret:
            raise ConfigError("the OpenID client has no secret; set STEPSCOPE_OIDC_SECRET")
        return self


class _Started(msgspec.Struct):
    """What a sign-in remembers until the browser comes back."""

    state: str
    nonce: str
    verifier: str
    until: float


class OidcLogin:
    """The two routes of a sign-in: `/login` leads to the provider, `/login/done` is where it leads back to."""

    def __init__(self, oidc: Oidc, database: Database) -> None:
        try:
            import joserfc  # noqa: F401
        except ModuleNotFoundError:
            raise MissingExtra("signing in at an identity provider", "joserfc", extra="server") from None
        self._oidc = oidc.checked()
        self._database = database
        self._found: dict[str, Any] | None = None

    def routes(self) -> list[Route]:
        return [
            Route("/login", self._begin, methods=["GET"]),
            Route("/login/done", self._finish, methods=["GET"]),
        ]

    async def _begin(self, request: Request) -> Response:
        provider = await run_in_threadpool(self._provider)
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        started = _Started(state, nonce, verifier, time.time() + _STARTED_S)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(started.verifier.encode()).digest()).rstrip(b"=")
        query = {
            "response_type": "code",
            "client_id": self._oidc.client_id,
            "redirect_uri": self._redirect_uri(request),
            "scope": "openid email profile",
            "state": started.state,
            "nonce": started.nonce,
            "code_challenge": challenge.decode(),
            "code_challenge_method": "S256",
        }
        address = str(provider["authorization_endpoint"])
        answer = RedirectResponse(f"{address}{'&' if '?' in address else '?'}{urlencode(query)}", 303)
        answer.set_cookie(
            STARTED,
            self._signed(started),
            _STARTED_S,
            path="/login",
            httponly=True,
            samesite="lax",  # it has to come along from the provider's site
            secure=self._secure(request),
        )
        return answer

    async def _finish(self, request: Request) -> Response:
        started = self._opened(request.cookies.get(STARTED, ""))
        given = request.query_params
        if "error" in given:
            raise Forbidden(f"the identity provider refused the sign-in: {given['error'][:200]}")
        if started is None or not hmac.compare_digest(given.get("state", ""), started.state):
            raise Forbidden("this sign-in was not begun in this browser, or took longer than ten minutes; try again")
        secret = await run_in_threadpool(self._admitted, request, given.get("code", ""), started)
        answer = plain_page("You are signed in", '<p><a class="button" href="/">Continue</a></p>', head=_ONWARD)
        answer.delete_cookie(STARTED, path="/login")
        answer.set_cookie(
            cookie_name(request.scope),
            secret,
            int(SESSION_S),
            httponly=True,
            samesite="strict",
            secure=self._secure(request),
        )
        return answer

    def _admitted(self, request: Request, code: str, started: _Started) -> str:
        """A session for who the provider says it is."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri(request),
            "client_id": self._oidc.client_id,
            "client_secret": self._oidc.client_secret,
            "code_verifier": started.verifier,
        }
        tokens = _fetched(str(self._provider()["token_endpoint"]), form)
        claims = self._claims(str(tokens.get("id_token", "")), started.nonce)
        identity = Identity(
            key=f"{claims['iss']} {claims['sub']}",
            email=str(claims["email"]) if claims.get("email_verified") is True and claims.get("email") else None,
            name=str(claims.get("preferred_username") or claims.get("email") or claims["sub"]),
        )
        user = user_for(self._database, identity, self._oidc.role)
        _, secret = make_token(self._database, user.id, "session", lifetime_s=SESSION_S)
        address = request.client.host if request.client else ""
        note(self._database, user.name, "sign in", f"at {self._oidc.issuer}", address=address)
        return secret

    def _claims(self, token: str, nonce: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        keys = KeySet.import_key_set(_fetched(str(self._provider()["jwks_uri"])))  # type: ignore[arg-type]
        wanted = {
            "iss": {"essential": True, "value": self._provider()["issuer"]},
            "aud": {"essential": True, "value": self._oidc.client_id},
            "nonce": {"essential": True, "value": nonce},
            "sub": {"essential": True},
            "exp": {"essential": True},
        }
        try:
            decoded = jwt.decode(token, keys, algorithms=_ALGORITHMS)
            jwt.JWTClaimsRegistry(leeway=60, **wanted).validate(decoded.claims)  # type: ignore[arg-type]
        except (JoseError, ValueError) as fault:
            raise Forbidden(f"the identity provider's answer does not hold: {fault}") from None
        return decoded.claims

    def _provider(self) -> dict[str, Any]:
        """What the provider says of itself, asked once."""
        if self._found is None:
            found = _fetched(f"{self._oidc.issuer.rstrip('/')}/.well-known/openid-configuration")
            missing = {"issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"} - found.keys()
            if missing or str(found["issuer"]).rstrip("/") != self._oidc.issuer.rstrip("/"):
                raise ProviderError(f"{self._oidc.issuer} is not the address of an OpenID provider")
            self._found = found
        return self._found

    def _redirect_uri(self, request: Request) -> str:
        base = self._oidc.public_url or f"{request.url.scheme}://{request.headers['host']}"
        return f"{base.rstrip('/')}/login/done"

    def _secure(self, request: Request) -> bool:
        return self._redirect_uri(request).startswith("https:")

    def _signed(self, started: _Started) -> str:
        data = base64.urlsafe_b64encode(msgspec.json.encode(started)).decode()
        return f"{data}.{self._signature(data)}"

    def _opened(self, cookie: str) -> _Started | None:
        data, _, signature = cookie.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(data).encode()):
            return None
        started = msgspec.json.decode(base64.urlsafe_b64decode(data), type=_Started)
        return started if started.until > time.time() else None

    def _signature(self, data: str) -> str:
        key = hashlib.sha256(b"stepscope login " + self._oidc.client_secret.encode()).digest()
        return hmac.new(key, data.encode(), hashlib.sha256).hexdigest()


def _fetched(url: str, form: dict[str, str] | None = None) -> dict[str, Any]:
    """A JSON object of the provider's; `form` is posted."""
    body = None if form is None else urlencode(form).encode()
    request = urllib.request.Request(url, body, {"accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            found = json.loads(answer.read(_LARGEST))
    except urllib.error.HTTPError as fault:
        with fault:
            said = fault.read(300).decode(errors="replace")
        raise ProviderError(f"the identity provider answered with status {fault.code}: {said}") from None
    except (OSError, ValueError) as fault:
        raise ProviderError(f"the identity provider at {urlsplit(url).netloc} cannot be asked: {fault}") from None
    if not isinstance(found, dict):
        raise ProviderError(f"the identity provider at {urlsplit(url).netloc} gave no JSON object")
    return found
