"""What a capsule says of itself: `capsule.json`. Reading it checks every field; it may come from anywhere."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from stepscope.errors import BadData, UsageError
from stepscope.runs.artifacts import check_inner_path

FORMAT = 1
_LARGEST = 256 << 20

Why = Literal["error", "loss", "gradient"]
"""error: the step raised · loss, gradient: it was not finite."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Fields are only ever added, with a default."""


class Anchor(_Record, frozen=True, kw_only=True):
    """A line of the user's code that a replay waits for."""

    file: str
    line: int
    function: str
    text: str = ""


class Source(_Record, frozen=True, kw_only=True):
    """One file of the user's: where it was, and where its text lies in the capsule."""

    path: str
    inner: str
    sha256: str
    """Of the text in the capsule."""
    original_sha256: str = ""
    """Of the file itself, where secrets in the text are masked."""


class Model(_Record, frozen=True, kw_only=True):
    """A root module of the step, in the order of the first calls."""

    kind: str
    training: bool
    at: Anchor
    state: dict[str, Any] = {}
    """Its parameters and buffers by name, packed."""
    modes: dict[str, bool] = {}
    """Of modules inside it whose mode is not its own: whether they train."""
    frozen: list[str] = []
    """Parameters that ask for no gradient."""


class OptimizerState(_Record, frozen=True, kw_only=True):
    """An optimizer, by the number it has among those the script makes."""

    number: int
    kind: str
    parameters: list[list[Any]] = []
    """Of each group the parameters, packed; only those that no model above holds."""
    groups: list[Any] = []
    """Learning rate and the like, packed."""
    state: Any = None
    """Moments and the like, packed; None when they were left out for their size."""


class Frame(_Record, frozen=True, kw_only=True):
    """Plain values of one running function of the user's, outermost first."""

    function: str
    file: str
    values: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    """Plain fields of its `self`."""


class Manifest(_Record, frozen=True, kw_only=True):
    """Everything but the bytes of the tensors and of the sources."""

    format: int = FORMAT
    why: Why
    step: int
    """Counted from 0, in optimizer steps."""
    rank: int = 0
    created: float = 0.0
    error: str = ""
    loss: str = ""
    """The loss as `float.hex`, to the bit; empty when the step did not get that far."""
    grad_norm: str = ""
    late: bool = False
    """It was seen a step late: the parameters may already have been spoiled by the update."""
    script: str = ""
    """The file that ran, or the module after -m."""
    is_module: bool = False
    argv: list[str] = []
    cwd: str = ""
    path: list[str] = []
    """The user's own folders on sys.path."""
    facts: dict[str, str] = {}
    sources: list[Source] = []
    anchor: Anchor | None = None
    """Where the step began: the line that took the batch, or the first call of a model."""
    loader: Anchor | None = None
    """Where the loader of the batch was made: inside a trainer's `fit` all loaders are asked from one line."""
    has_batch: bool = False
    batches: list[Any] = []
    """What loaders gave, in order; more than one for `zip(a, b)`."""
    arguments: Any = None
    """What the first model was called with, packed as (args, kwargs)."""
    steps_taken: int = 0
    """How many optimizer steps this turn of the loop had taken before the failing part of it."""
    random: Any = None
    """The random generators when the step began, packed."""
    random_later: Any = None
    """The same, at the first model call after the last of those optimizer steps."""
    models: list[Model] = []
    optimizers: list[OptimizerState] = []
    frames: list[Frame] = []
    missing: list[str] = []
    """What is not here, and why."""


def read_manifest(raw: bytes, where: str) -> Manifest:
    """A manifest, checked field by field; anything else than what we write is refused."""
    if len(raw) > _LARGEST:
        raise BadData(f"{where}: a capsule.json of {len(raw):,} bytes; expected less than {_LARGEST:,}")
    try:
        found = msgspec.convert(json.loads(raw), Manifest)
    except (UnicodeDecodeError, ValueError, RecursionError, msgspec.ValidationError) as fault:
        raise BadData(f"{where}: this is not a Stepscope capsule.json ({str(fault)[:200]}); was it changed?") from None
    if found.format > FORMAT:
        raise BadData(f"{where}: format {found.format} is newer than this Stepscope reads ({FORMAT}); update stepscope")
    for source in found.sources:
        try:
            check_inner_path(source.inner)
        except UsageError as fault:  # made by a user it is theirs; here the file is to blame
            raise BadData(f"{where}: the capsule cannot be trusted: {fault}") from None
        if not source.inner.startswith("source/"):
            raise BadData(f"{where}: the capsule cannot be trusted: a source at {source.inner!r}")
    return found
