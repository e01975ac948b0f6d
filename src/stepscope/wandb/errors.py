"""The exceptions scripts written for W&B catch: `except wandb.errors.CommError`. Ours, under W&B's names."""

from __future__ import annotations

from typing import Any

from stepscope.errors import StepscopeError

__all__ = [
    "AuthenticationError",
    "CommError",
    "ConfigError",
    "Error",
    "UnsupportedError",
    "UsageError",
    "WandbCoreNotAvailableError",
]


class Error(StepscopeError):
    """The base of them all, as `wandb.Error` is."""

    def __init__(self, message: str = "", context: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.context = context


class CommError(Error):
    """Something asked for is not there; over there it also means a broken connection, of which there is none here."""

    exit_code = 3
    http_status = 404

    def __init__(self, msg: str, exc: Exception | None = None) -> None:
        super().__init__(msg)
        self.exc = exc


class AuthenticationError(CommError):
    """Never raised: there is no account."""


class UsageError(Error):
    exit_code = 2
    http_status = 400


class UnsupportedError(UsageError):
    """Something W&B has and this does not; the message names what to use instead."""


class ConfigError(UsageError):
    """A setting that was given a second, different value."""


class WandbCoreNotAvailableError(Error):
    """Never raised: there is no other process to start."""
