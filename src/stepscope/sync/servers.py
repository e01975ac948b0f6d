"""The servers a user has logged in to, with a token for each: one private file in their configuration folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

from stepscope.common.config_files import servers_file
from stepscope.errors import ConfigError, Forbidden, StorageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import open_file, read_window
from stepscope.runs.format.ids import new_run_id

__all__ = ["Login", "forget_login", "login_for", "logins", "save_login", "servers_file"]

_LARGEST = 1 << 20


class Login(msgspec.Struct, frozen=True):
    url: str
    token: str
    user: str = ""


class _File(msgspec.Struct):
    servers: list[Login]
    """The last one to log in to comes first: it is the usual one."""


def logins() -> list[Login]:
    """The usual server first; none where nobody has logged in."""
    path = servers_file()
    try:
        with open_file(path) as file:
            mode = os.fstat(file.fileno()).st_mode
            data = read_window(file, 0, _LARGEST)
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise ConfigError(f"{path} cannot be read: {fault}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Forbidden(f"{path} holds tokens and can be read by others; run: chmod 600 {path}")
    try:
        return msgspec.json.decode(data, type=_File).servers
    except MALFORMED as fault:
        raise ConfigError(f"{path} cannot be read ({fault}); remove it and log in again") from None


def login_for(url: str | None) -> Login | None:
    """The login at a server, or with None at the usual one."""
    found = logins()
    if url is None:
        return found[0] if found else None
    return next((one for one in found if one.url == url.rstrip("/")), None)


def save_login(login: Login) -> Path:
    """Keep a login, as the usual one."""
    return _write([login, *(one for one in logins() if one.url != login.url)])


def forget_login(url: str) -> bool:
    """Whether there was one to forget."""
    found = logins()
    left = [one for one in found if one.url != url.rstrip("/")]
    if len(left) == len(found):
        return False
    _write(left)
    return True


def _write(servers: list[Login]) -> Path:
    path = servers_file()
    temporary = path.with_name(f".{new_run_id()}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(_File(servers)), indent=1) + b"\n")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as fault:
        raise StorageError(f"the login cannot be kept in {path}: {fault.strerror or fault}") from None
    return path
