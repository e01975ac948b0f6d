"""Opens the object store at an address.

objects = open_objects("s3://team-runs/stepscope")        # AWS_ENDPOINT_URL names another S3-compatible service
objects = open_objects("/mnt/archive")
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from stepscope.errors import ConfigError, StorageError
from stepscope.sync.objects import FolderObjects, Objects
from stepscope.sync.s3 import S3Objects


def open_objects(place: str) -> Objects:
    """The store at an address: `s3://bucket/prefix`, `s3://bucket?endpoint=http://host:9000`, or a folder."""
    parts = urlsplit(place)
    if parts.scheme in ("", "file"):
        try:
            return FolderObjects(Path(parts.path if parts.scheme else place).expanduser().absolute())
        except OSError as fault:
            raise StorageError(f"nothing can be kept in {place!r}: {fault.strerror or fault}") from None
    if parts.scheme != "s3" or not parts.netloc:
        raise ConfigError(
            f"{place!r} is not a place for runs; expected s3://bucket/prefix, or a folder such as /mnt/archive"
        )
    endpoint = parse_qs(parts.query).get("endpoint", [None])[-1]
    return S3Objects(parts.netloc, parts.path.strip("/"), endpoint)
