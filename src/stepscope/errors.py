"""Every exception Stepscope raises on purpose.

    StepscopeError                 exit 1, HTTP 500
    ├── UsageError                 exit 2, HTTP 400   a wrong argument, option or value
    │   ├── QueryError             exit 2, HTTP 400   a run query that does not parse; points at the character
    │   └── ConfigError            exit 2, HTTP 400   a settings file or value we cannot use
    ├── NotFound                   exit 3, HTTP 404   no such run, series, file or project
    ├── Ambiguous                  exit 3, HTTP 409   a short name that fits several runs
    ├── Conflict                   exit 3, HTTP 409   somebody else changed the same thing meanwhile
    ├── Forbidden                  exit 4, HTTP 403   refused by a safety rule
    ├── BadData                    exit 5, HTTP 422   a file that is not what it claims to be
    │   └── UnsafeFile             exit 5, HTTP 422   a pipe, a link out of its folder, too large; an OSError too
    ├── StorageError               exit 6, HTTP 507   the disk or folder cannot take what we write
    └── MissingExtra               exit 7, HTTP 501   an optional package is needed; names its install line

Only `cli` and `server` turn one of these into text for a person. A message says what happened, with the
value; what was expected; and what to do next.
"""

from __future__ import annotations

from errno import EINVAL

__all__ = [
    "Ambiguous",
    "BadData",
    "ConfigError",
    "Conflict",
    "Forbidden",
    "MissingExtra",
    "NotFound",
    "QueryError",
    "StepscopeError",
    "StorageError",
    "UnsafeFile",
    "UsageError",
]


class StepscopeError(Exception):
    """The base of them all: knows how a command exits and what the server answers."""

    exit_code = 1
    http_status = 500


class UsageError(StepscopeError):
    exit_code = 2
    http_status = 400


class QueryError(UsageError):
    """A run query that cannot be read. `position` is the offending character, counted from 0."""

    def __init__(self, message: str, query: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.query = query
        self.position = position

    def __str__(self) -> str:
        return f"{self.message}\n  {self.query}\n  {' ' * self.position}^"


class ConfigError(UsageError):
    pass


class NotFound(StepscopeError):
    exit_code = 3
    http_status = 404


class Ambiguous(StepscopeError):
    exit_code = 3
    http_status = 409


class Conflict(StepscopeError):
    exit_code = 3
    http_status = 409


class Forbidden(StepscopeError):
    exit_code = 4
    http_status = 403


class BadData(StepscopeError):
    exit_code = 5
    http_status = 422


class UnsafeFile(BadData, OSError):
    """A file that must not be opened or read whole. An `OSError` too, so that code that passes over such files does."""

    def __init__(self, message: str) -> None:
        super().__init__(EINVAL, message)

    def __str__(self) -> str:
        return str(self.strerror)


class StorageError(StepscopeError):
    exit_code = 6
    http_status = 507


class MissingExtra(StepscopeError):
    """An optional package is missing.

    >>> print(MissingExtra("reading parquet", "pyarrow", extra="parquet"))
    reading parquet needs pyarrow, which is not installed; run: pip install 'stepscope[parquet]'
    """

    exit_code = 7
    http_status = 501

    def __init__(self, purpose: str, package: str, extra: str | None = None) -> None:
        install = f"'stepscope[{extra}]'" if extra else package
        super().__init__(f"{purpose} needs {package}, which is not installed; run: pip install {install}")

    @classmethod
    def if_torch(cls, name: str, fault: ModuleNotFoundError) -> None:
        """Raise in our own words when what is missing is torch."""
        if fault.name == "torch":
            raise cls(f"stepscope.{name}", "torch", extra="torch") from None
