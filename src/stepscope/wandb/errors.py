"""The exceptions that W&B scripts catch: `except wandb.errors.CommError`. Stepscope's own, under W&B's names."""

from __future__ import annotations

from typing import Any

from stepscope.errors import StepscopeError


class Error(StepscopeError):
    """The base class, like `wandb.Error`."""

    def __init__(self, message: str = "", context: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.context = context


class CommError(Error):
    """Something requested does not exist; in W&B it also means a broken connection, which cannot happen here."""

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
    """A W&B feature that is missing here; the message names an alternative."""


class ConfigError(UsageError):
    """A setting that was given a second, different value."""


class WandbCoreNotAvailableError(Error):
    """Never raised: no other process is started."""
