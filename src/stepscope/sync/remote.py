"""A server as the client sees it: short requests, each with a deadline, over one connection that is made again."""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl
import time
import zlib
from types import TracebackType
from typing import Any, NamedTuple, TypeVar
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import msgspec

from stepscope.common.units import bytes_text
from stepscope.errors import BadData, Conflict, Forbidden, NotFound, StepscopeError, StorageError, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.packed import inflated
from stepscope.sync.wire import BEFORE, CHECKSUM, LARGEST_PIECE, TYPE, WHOLE, Fate, Held, RunList, Stored

T = TypeVar("T")

_TIMEOUT_S = 30.0
_LONGEST_S = 300.0
"""From the first to the last byte of an answer."""
_LARGEST_ANSWER = 64 << 20
_CHUNK = 1 << 20
_runs = msgspec.json.Decoder(RunList)
_held = msgspec.json.Decoder(Held)
_stored = msgspec.json.Decoder(Stored)


class _Me(msgspec.Struct):
    name: str


class _Token(msgspec.Struct):
    token: str


class RemoteFile(msgspec.Struct, frozen=True):
    path: str
    sha256: str
    size: int
    mime: str = "application/octet-stream"
    reference: str | None = None


class RemoteArtifact(msgspec.Struct, frozen=True):
    """An artifact as the server knows it."""

    run: str
    project: str
    name: str
    type: str
    version: int
    run_version: int
    digest: str
    time: float
    aliases: list[str]
    metadata: dict[str, Any]
    files: list[RemoteFile]


_JSON = {"content-type": "application/json"}
_me = msgspec.json.Decoder(_Me)
_token = msgspec.json.Decoder(_Token)
_artifact = msgspec.json.Decoder(RemoteArtifact)


class Piece(NamedTuple):
    """Bytes of a file on the server, with what they have to fit to."""

    data: bytes
    before: int
    sha256: str
    size: int


class Unreachable(StepscopeError):
    """The server did not answer, or not sensibly: try again later."""

    http_status = 502


def check_address(url: str) -> SplitResult:
    """The parts of a server's address; refused if it is not an address."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
    if not sound:
        raise UsageError(f"{url!r} is not the address of a server; expected for example https://runs.example.org")
    return parts


class NotAllowed(Forbidden):
    """The server knows us, and does not let us do this; other runs may be ours to send."""


class ServerFull(StorageError):
    """The server has no room for more: a quota is used up, or its disk is. What is here stays here, for later."""


class Remote:
    """The address and token of a server. Every call is safe to repeat."""

    def __init__(self, url: str, token: str, *, renew: str = "", timeout_s: float = _TIMEOUT_S) -> None:
        """`renew` says where a new token goes, when the server takes this one no more."""
        parts = check_address(url)
        host = parts.hostname or ""
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._path = parts.path.rstrip("/")
        self._token = token
        self._renew = renew or f"then run `stepscope login {self.url}`"
        self._timeout_s = timeout_s
        self._headers: dict[str, str] = {}
        """Those of the last answer."""
        self._connection: http.client.HTTPConnection
        if parts.scheme == "https":
            safe = ssl.create_default_context()
            self._connection = http.client.HTTPSConnection(host, parts.port, timeout=timeout_s, context=safe)
        else:
            self._connection = http.client.HTTPConnection(host, parts.port, timeout=timeout_s)

    def me(self) -> str:
        """The name of the user whose token this is."""
        return _decoded(self._call("GET", "/api/me"), _me).name

    def login(self, invitation: str, name: str) -> str:
        """A personal token for an invitation, which works once."""
        body = msgspec.json.encode({"invitation": invitation, "name": name})
        return _decoded(self._call("POST", "/api/login", body, _JSON), _token).token

    def logout(self) -> None:
        """Revoke the token."""
        self._call("POST", "/api/logout", b"{}", _JSON)

    def held(self, run: str) -> Held:
        """What the server holds of a run."""
        return _decoded(self._call("GET", f"/api/sync/{run}"), _held)

    def add(
        self, run: str, name: str, offset: int, data: bytes, *, before: int = -1, sha256: str = "", size: int = -1
    ) -> Stored:
        """Send a piece of a file; up to where the server has it now."""
        query = urlencode({"offset": offset, "before": before, "sha256": sha256, "size": size})
        headers = {"content-type": TYPE, CHECKSUM: hashlib.sha256(data).hexdigest()}
        body = zlib.compress(data, 1)
        return _decoded(self._call("POST", f"/api/sync/{run}/{quote(name)}?{query}", body, headers), _stored)

    def runs(self) -> RunList:
        """The ids of all runs on the server, and of those that were deleted there."""
        return _decoded(self._call("GET", "/api/sync"), _runs)

    def tell(self, run: str, fate: Fate) -> None:
        """Have a run deleted or restored on the server as it was here."""
        self._call("POST", f"/api/sync/{run}", msgspec.json.encode(fate), _JSON)

    def read(self, run: str, name: str, offset: int) -> Piece:
        """A piece of a file from `offset`; empty where the server has no more."""
        data = self._call("GET", f"/api/sync/{run}/{quote(name)}?{urlencode({'offset': offset})}")
        try:
            plain = inflated(data, LARGEST_PIECE, "the piece")
        except BadData as fault:
            raise Unreachable(f"{self.url}: {fault}") from None
        said = self._headers
        sha256, _, size = said.get(WHOLE, "").partition(" ")
        if hashlib.sha256(plain).hexdigest() != said.get(CHECKSUM):
            raise Unreachable(f"{self.url}: a piece of {name} was changed on its way")
        numbers = (said.get(BEFORE, "0"), size or "-1")
        if not all(text.lstrip("-").isdecimal() for text in numbers):
            raise Unreachable(f"{self.url}: a piece of {name} came without its place")
        return Piece(plain, int(numbers[0]), sha256, int(numbers[1]))

    def artifact(self, wanted: str, project: str) -> RemoteArtifact:
        """The artifact that a name means on the server, with the hashes of its files."""
        body = msgspec.json.encode({"artifact": wanted, "project": project})
        try:
            return _decoded(self._call("POST", "/api/artifact/find", body, _JSON), _artifact)
        except UsageError as fault:
            raise NotFound(str(fault)) from None

    def blob(self, run: str, sha256: str, start: int, end: int) -> bytes:
        """Bytes of a file from `start` up to `end`, by the hash of the whole; at least one."""
        span = {"range": f"bytes={start}-{end - 1}", "accept-encoding": "identity"}
        data = self._call("GET", f"/api/blob/{run}/{sha256}?save=true", more=span)
        if not self._headers.get("content-range", "").startswith(f"bytes {start}-"):
            data = data[start:end]  # all of it came
        if not data or len(data) > end - start:
            raise Unreachable(f"{self.url} sent {len(data)} bytes of {sha256[:12]}…; expected {end - start}")
        return data

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _call(self, method: str, path: str, body: bytes | None = None, more: dict[str, str] | None = None) -> bytes:
        headers = {"x-stepscope": "1", "authorization": f"Bearer {self._token}", **(more or {})}
        try:
            self._connection.request(method, self._path + path, body, headers)
            with self._connection.getresponse() as answer:  # one without a length is not the connection's to close
                data = _whole(answer)
                self._headers = {key.lower(): value for key, value in answer.getheaders()}
        except (OSError, http.client.HTTPException) as fault:
            self.close()  # what is left on it could be mistaken for the answer to the next request
            raise Unreachable(f"{self.url} cannot be reached: {self._why(fault)}") from None
        if answer.status in (200, 206):
            return data
        self.close()
        if answer.status == 401:
            raise Forbidden(
                f"{self.url} answered: {_said(data) or 'This token is refused.'} Make a new one there, {self._renew}"
            )
        raise _refusal(self.url, answer.status, data)

    def _why(self, fault: Exception) -> str:
        """What a fault of the network means, and what to look at."""
        if isinstance(fault, ConnectionRefusedError):
            return "no server listens there; check the address, and that the server runs"
        if isinstance(fault, socket.gaierror):
            return "there is no machine of this name; check the address, and the network"
        if isinstance(fault, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({fault.verify_message})"
        if isinstance(fault, ssl.SSLError) and "WRONG_VERSION_NUMBER" in str(fault):
            return "it does not speak HTTPS; begin the address with http://"
        if isinstance(fault, TimeoutError) and not str(fault).startswith("its answer"):
            return f"it did not answer within {self._timeout_s:.0f} s"
        return str(fault) or type(fault).__name__


def _whole(answer: http.client.HTTPResponse) -> bytes:
    """The body. The time limit of a connection is for each piece of it: a server that drips would never end."""
    until, parts, size = time.monotonic() + _LONGEST_S, [], 0
    while part := answer.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > _LARGEST_ANSWER:
            raise http.client.HTTPException(f"its answer has more than {bytes_text(_LARGEST_ANSWER)}")
        if time.monotonic() > until:
            raise TimeoutError(f"its answer took longer than {_LONGEST_S:.0f} s")
    if answer.length:
        raise http.client.IncompleteRead(b"", answer.length)
    return b"".join(parts)


def _decoded(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    try:
        return decoder.decode(data)
    except MALFORMED:
        raise Unreachable(f"the answer is not from a Stepscope server; check the address: {data[:40]!r}") from None


def _said(data: bytes) -> str | None:
    try:
        return str(msgspec.json.decode(data)["error"])
    except (*MALFORMED, KeyError, TypeError):
        return None


def _refusal(url: str, status: int, data: bytes) -> StepscopeError:
    said = _said(data)
    if said is None:
        return Unreachable(f"{url} is not the address of a Stepscope server (status {status}); check the address")
    kinds: dict[int, type[StepscopeError]] = {
        400: UsageError,
        403: NotAllowed,
        404: UsageError,
        409: Conflict,
        422: BadData,
        507: ServerFull,
    }
    return kinds.get(status, Unreachable)(f"{url}: {said}")
