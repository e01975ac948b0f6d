"""The settings of a server, and the refusals that keep a mistake from opening it to strangers."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import socket
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import ConfigError, Forbidden
from stepscope.files.opening import open_file, read_window
from stepscope.sync.objects import Objects

if TYPE_CHECKING:
    from stepscope.database.engine import Database
    from stepscope.server.mail import Mail
    from stepscope.server.oidc import Oidc

MIN_TOKEN = 16
_STATIC = Path(__file__).parent / "static"


_LARGEST_TOKEN = 4096


@dataclass(frozen=True)
class Settings:
    """How one server behaves. `create_app` takes it as it is; `checked` refuses what is unsafe."""

    host: str = "127.0.0.1"
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Asked of every request; None only on a loopback address."""
    allow_hosts: tuple[str, ...] = ()
    """Names a browser may use for this server, besides those of the machine itself."""
    static: Path = _STATIC
    read_only: bool = False
    compact: bool = True
    """Compact ended runs in the background, where their folders can be written to."""
    poll_s: float = 0.4
    """How often to look while a page is open; polling backs off after a slow poll."""
    max_body: int = 4 << 20
    """A report has up to two million bytes, and JSON makes some of them two."""
    max_listeners: int = 512
    """Open pages that are notified of changes; each holds a connection."""
    header_s: float = 5.0
    """How long a client may take to send the headers of a request."""
    body_s: float = 15.0
    """How long it may take to send the body after that."""
    heartbeat_s: float = 15.0
    notify: bool = False
    """Show alerts on the desktop of this machine."""
    webhook: str | None = field(default=None, repr=False)
    """Send alerts there; the address is a secret."""
    mail: Mail | None = None
    """Sends people mail about comments that mention them."""
    public_url: str = ""
    """The address that browsers use, for links in messages."""
    tell: tuple[str, ...] = ()
    """The kinds of alerts that go out; the usual ones when empty."""
    ingest: Path | None = None
    """A store that takes runs sent by `stepscope sync`. Needs `people`."""
    people: Database | None = field(default=None, repr=False)
    """The users of a team's server, who each have tokens of their own instead of `token`."""
    oidc: Oidc | None = None
    """Where people sign in with a browser, besides invitations."""
    meters: Path | None = None
    """Where this process notes its numbers for `/metrics`, beside those of the others that share its address."""
    objects: Objects | None = None
    """Where runs of that store go when they have ended; they stay on its disk without."""
    rest_s: float = 60.0
    """A run is left alone for this long after its end: somebody may resume it, or its last files are on their way."""
    retain_after_s: float = 86400.0
    """Retention removes nothing for this long after a run's end."""
    framed: bool = False
    """Pages of this machine's own servers may frame it: a notebook does."""

    def checked(self) -> Settings:
        """These settings, or the reason why they would be unsafe."""
        if self.people is not None:
            return self
        if self.ingest is not None:
            raise ConfigError("a server that takes runs needs a database of its users; start it by `stepscope server`")
        if self.token is None and not is_loopback(self.host):
            raise Forbidden(
                f"refusing to serve on {self.host} without a token: anyone who can reach this machine could read and "
                "change your runs. Leave out --no-token, or bind to 127.0.0.1 and reach it through `ssh -L`."
            )
        if self.token is not None and len(self.token) < MIN_TOKEN:
            raise ConfigError(
                f"the token has {len(self.token)} characters; at least {MIN_TOKEN} are needed so that it cannot be "
                "guessed. Leave it out to have one made."
            )
        if self.token is not None and not re.fullmatch(r"[A-Za-z0-9._~-]+", self.token):
            raise ConfigError("the token has characters that do not survive in a URL; use letters, digits, and - . _ ~")
        return self

    def allows_host(self, name: str) -> bool:
        """Whether a request may call this server `name` (lower case, without port).

        A page on the internet can point its own name at 127.0.0.1 (DNS rebinding) but cannot make the browser send
        another name. A literal address cannot be rebound, so any is fine where the server is meant to be reached.
        """
        if name in ("localhost", "127.0.0.1", "[::1]") or name in self.allow_hosts:
            return True
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return not is_loopback(self.host) and name in (socket.gethostname().lower(), self.host.lower())
        return address.is_loopback or not is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "192.168.1.5", "::", "")]
    [True, True, True, False, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token_file(path: Path) -> str:
    """The token kept in a file, made (mode 0600) if there is none: the same token over restarts, never in `ps`."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError as error:
        raise ConfigError(f"cannot make the token file {path}: {error.strerror}") from error
    else:
        with os.fdopen(handle, "w") as file:
            os.chmod(path, 0o600)
            file.write(secrets.token_urlsafe(24) + "\n")
    try:
        with open_file(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            token = read_window(file, 0, _LARGEST_TOKEN).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the token file {path}: {error}") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Forbidden(f"the token file {path} can be read by others; run: chmod 600 {path}")
    return token
