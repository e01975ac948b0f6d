"""Which calls open or read files, by the syntax tree: for the test that all of them go through `stepscope.files`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Read", "reads_of"]

_METHODS = {"open", "read_bytes", "read_text", "extract", "extractall"}
_FUNCTIONS = {
    "open", "io.open", "os.open", "io.FileIO", "gzip.open", "gzip.GzipFile", "bz2.open", "bz2.BZ2File", "lzma.open",
    "lzma.LZMAFile", "tarfile.open", "tarfile.TarFile", "zipfile.ZipFile", "zipfile.is_zipfile", "zipfile.Path",
    "mmap.mmap", "sqlite3.connect", "np.load", "np.loadtxt", "np.genfromtxt", "np.fromfile", "np.memmap",
    "numpy.load", "numpy.loadtxt", "numpy.fromfile", "numpy.memmap", "shutil.copy", "shutil.copy2", "shutil.copyfile",
    "shutil.copytree", "shutil.unpack_archive", "parquet.read_table", "torch.load", "pillow.open", "Image.open",
    "zlib.decompress", "zlib.decompressobj", "gzip.decompress", "bz2.decompress", "lzma.decompress",
    "marshal.load", "pickle.load", "pickle.loads", "yaml.load", "yaml.safe_load", "msgspec.yaml.decode",
}  # fmt: skip
_WRITING = {"w", "wb", "x", "xb", "a", "ab"}
_NOT_FILES = {"webbrowser.open", "archive.open"}
"""Names whose `open` opens no file by its path."""


class Read(NamedTuple):
    line: int
    what: str


def reads_of(path: Path) -> list[Read]:
    """The calls in one file that read a file by its path, unpack or map one; writing a new file is not among them."""
    return sorted(_reads(ast.parse(path.read_text())))


def _reads(tree: ast.Module) -> Iterator[Read]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        whole = name in _FUNCTIONS
        method = isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS
        if not (whole or method) or name in _NOT_FILES or _is_writing(node, name):
            continue
        if whole or _takes_a_file(node):
            yield Read(node.lineno, name if whole else f".{node.func.attr}")  # type: ignore[attr-defined]


def _is_writing(node: ast.Call, name: str) -> bool:
    """Whether it makes or appends to a file: a mode of letters, or flags of `os.open` without reading."""
    if name == "os.open":
        flags = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
        return "O_WRONLY" in flags
    given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    return any(isinstance(one, ast.Constant) and one.value in _WRITING for one in given)


def _takes_a_file(node: ast.Call) -> bool:
    """`journal.open()` and `desk.open(id)` of our own objects are no files; `path.open("rb")`, `path.open()` of a path
    and every `read_bytes` are."""
    assert isinstance(node.func, ast.Attribute)
    if node.func.attr != "open":
        return True
    has_mode = bool(node.args) and isinstance(node.args[0], ast.Constant)
    return has_mode or "path" in ast.unparse(node.func.value).lower()
