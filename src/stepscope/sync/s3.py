"""A bucket of an S3-compatible service, through boto3. Keys and secrets come from where boto3 always looks for them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from stepscope.errors import ConfigError, MissingExtra, StorageError
from stepscope.sync.objects import Stat

_SHA256 = "sha256"
_PART = 16 << 20
"""Larger objects travel in parts of this size."""
_ABSENT = ("404", "NoSuchKey", "NotFound")


class S3Objects:
    """`AWS_ACCESS_KEY_ID` and the like say who we are, `AWS_ENDPOINT_URL` or `?endpoint=` which service it is."""

    def __init__(self, bucket: str, prefix: str, endpoint: str | None = None) -> None:
        try:
            import boto3
            from boto3.s3.transfer import TransferConfig
            from botocore.config import Config
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError:
            raise MissingExtra("an S3 bucket", "boto3", extra="server") from None
        self.name = f"s3://{bucket}/{prefix}".rstrip("/")
        self._bucket, self._prefix = bucket, f"{prefix}/" if prefix else ""
        self._faults: tuple[type[Exception], ...] = (BotoCoreError, ClientError)
        # Other makers' services do not know the newest checksums; ours is in the metadata.
        config = Config(
            connect_timeout=10,
            read_timeout=60,
            retries={"max_attempts": 4, "mode": "standard"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        self._transfer = TransferConfig(multipart_threshold=_PART, multipart_chunksize=_PART, max_concurrency=4)
        try:
            self._client: Any = boto3.client("s3", endpoint_url=endpoint, config=config)
            self._client.head_bucket(Bucket=bucket)
        except ValueError as fault:
            raise ConfigError(f"the endpoint {endpoint!r} cannot be used: {fault}") from None
        except self._faults as fault:
            raise StorageError(
                f"the bucket {self.name} cannot be used: {fault}. Is it there, do AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY fit, and is AWS_ENDPOINT_URL the right service?"
            ) from None

    def put(self, key: str, file: BinaryIO, size: int, sha256: str) -> None:
        with self._asking(key):
            self._client.upload_fileobj(
                _FirstBytes(file, size),
                self._bucket,
                self._prefix + key,
                ExtraArgs={"Metadata": {_SHA256: sha256}},
                Config=self._transfer,
            )
        found = self.stat(key)
        if found != Stat(size, sha256):
            raise OSError(errno.EIO, f"{self.name}/{key} has {found} after it was written; expected {size} bytes")

    def read(self, key: str, start: int, end: int) -> bytes:
        with self._asking(key):
            asked = f"bytes={start}-{end - 1}"
            answer = self._client.get_object(Bucket=self._bucket, Key=self._prefix + key, Range=asked)
            data: bytes = answer["Body"].read()
        if len(data) != end - start:
            raise OSError(errno.EIO, f"{self.name}/{key} sent {len(data)} bytes of {end - start}")
        return data

    def stat(self, key: str) -> Stat | None:
        with self._asking(key):
            try:
                found = self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)
            except self._faults as fault:
                if _code(fault) in _ABSENT:
                    return None
                raise
        return Stat(int(found["ContentLength"]), str(found["Metadata"].get(_SHA256, "")))

    def keys(self, prefix: str = "") -> Iterator[str]:
        with self._asking(prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix + prefix
            )
            for page in pages:
                for one in page.get("Contents", ()):
                    yield one["Key"][len(self._prefix) :]

    def delete(self, key: str) -> None:
        with self._asking(key):
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        try:
            yield
        except self._faults as fault:
            absent = errno.ENOENT if _code(fault) in _ABSENT else errno.EIO
            raise OSError(absent, f"{self.name}/{key}: {fault}") from None


class _FirstBytes:
    """The beginning of a file. boto3 closes what it has uploaded; the file is not ours to close."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size

    def read(self, count: int = -1) -> bytes:
        left = max(0, self._size - self._file.tell())
        return self._file.read(left if count < 0 else min(count, left))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            return self._file.seek(self._size + offset)
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        pass


def _code(fault: Exception) -> str:
    response: dict[str, Any] = getattr(fault, "response", {})
    return str(response.get("Error", {}).get("Code", ""))
