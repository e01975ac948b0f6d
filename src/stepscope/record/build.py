"""From drafts to the frozen `StepRecord`, once the step is over and nothing of it runs any more."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from stepscope import fence
from stepscope.record.arguments import plain_arguments
from stepscope.record.construction import exact_sites, sites_in
from stepscope.record.sites import Sites
from stepscope.record.structure import Seen, describe as describe_modules, look
from stepscope.records.step import Cost, ModuleCall, ModuleInfo, Op, Site, StepRecord, TensorInfo, TensorRef, Unseen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stepscope.record.identity import Entry
    from stepscope.record.modules import ModuleEntry
    from stepscope.record.recorder import Recorder
    from stepscope.record.step_builder import CallDraft, OpDraft, Ref


class Root(NamedTuple):
    """A tree of modules as it was when the step ended."""

    path: str
    seen: Seen
    exact_sites: dict[str, Site]
    """Where its modules were made, as far as that was watched."""


class Described(NamedTuple):
    """What must be read off the living model when the step ends."""

    model: str
    roots: tuple[Root, ...]
    is_forward: bool = False
    """There was no model, or none with parameters: what ran before backward is forward."""


def describe(recorder: Recorder) -> Described:
    """Look at the model as it is now."""
    is_forward = _settle_roots(recorder)
    roots = recorder.modules.roots
    model = "" if not roots or roots[0] is None else roots[0].type
    found = tuple(_roots(roots))
    roots.clear()
    return Described(model, found, is_forward)


def _roots(entries: list[ModuleEntry | None]) -> Iterator[Root]:
    for entry in entries:
        root = None if entry is None else entry.ref()
        if entry is not None and root is not None:  # one that is gone cannot be described any more
            yield Root(entry.path, look(root), exact_sites(root))


def build_record(recorder: Recorder, described: Described, wall_us: float, error: str | None) -> StepRecord:
    """The step as plain data."""
    sites = Sites()
    modules, places = _modules(described.roots, sites)
    drafts = recorder.drafts
    loss = recorder.engine.loss
    _place_tensors(recorder, places)
    if described.is_forward:
        _rename_phases(recorder)
    if recorder.tensors.unseen_writes:
        drafts.not_seen("what wrote into a tensor in place")
    if recorder.optimizers.seen:
        drafts.notes["optimizers"] = list(recorder.optimizers.seen)
    return StepRecord(
        depth=recorder.depth,
        started=recorder.started,
        wall_us=wall_us,
        model=described.model,
        torch=str(torch.__version__),
        device=_main_device(recorder),
        modules=modules,
        ops=tuple(_op(draft, sites) for draft in drafts.ops),
        tensors=tuple(_tensor(draft, sites) for draft in recorder.tensors.all),
        calls=tuple(_call(call) for call in drafts.calls),
        sites=tuple(sites.sites),
        loss=None if loss is None else TensorRef(*loss),
        unseen=tuple(Unseen(what=what, where=where, count=n) for (what, where), n in drafts.unseen.items()),
        error=error,
        notes=drafts.notes,
    )


def _settle_roots(recorder: Recorder) -> bool:
    """Without a model given the first module called is it; True if set-up and forward could not be told apart."""
    modules = recorder.modules
    if modules.roots and modules.roots[0] is None:
        prefix = modules.roots[1]
        if prefix is not None:
            name = prefix.path
            for entry in modules.entries.values():
                if entry.root == 1:
                    entry.path, entry.root = entry.path[len(name) :].lstrip("."), 0
        modules.roots[0] = modules.roots.pop(1)
        return True
    return not modules.roots


def _rename_phases(recorder: Recorder) -> None:
    for draft in recorder.drafts.ops:
        if draft.phase == "setup":
            draft.phase = "forward"


def _main_device(recorder: Recorder) -> str:
    counts: dict[str, int] = {}
    for draft in recorder.tensors.all:
        name = _name_of(draft.device)
        counts[name] = counts.get(name, 0) + draft.bytes
    return max(counts, key=lambda name: counts[name]) if counts else "cpu"


def _modules(roots: Sequence[Root], sites: Sites) -> tuple[tuple[ModuleInfo, ...], dict[str, int]]:
    """All modules, and by name where they, their parameters and buffers were made."""
    found: dict[str, ModuleInfo] = {}
    all_places: dict[str, int] = {}
    for root in roots:
        places = {path: sites.index(site) for path, site in _construction(root).items()}
        named = {f"{root.path}.{path}".strip("."): site for path, site in places.items() if site is not None}
        all_places.update(named)
        for info in describe_modules(root.seen, root.path, named):
            found.setdefault(info.path, info)
    return tuple(found.values()), all_places


def _place_tensors(recorder: Recorder, named: dict[str, int]) -> None:
    for entry in recorder.tensors.all:
        if entry.kind in ("parameter", "buffer") and entry.name is not None:
            entry.site = named.get(entry.name, entry.site)


@fence.fenced("finding where modules were constructed", default={})
def _construction(root: Root) -> dict[str, Site]:
    return sites_in(root.seen, root.exact_sites)


def _refs(refs: Sequence[Ref]) -> tuple[TensorRef, ...]:
    return tuple([TensorRef(*ref) for ref in refs])


def _op(draft: OpDraft, sites: Sites) -> Op:
    call = draft.call
    return Op(
        index=draft.index,
        name=draft.name,
        phase=draft.phase,
        module=None if call is None else call.module.path,
        call=0 if call is None else call.call,
        site=sites.index(draft.site),
        args={} if draft.args is None else plain_arguments(draft.args, [number for number, _ in draft.inputs]),
        inputs=_refs(draft.inputs),
        outputs=_refs(draft.outputs),
        inplace=draft.inplace,
        view=draft.view,
        forward=None if draft.forward is None else draft.forward.index,
        backward=tuple(draft.backward),
        cost=Cost(
            host_us=draft.host_us,
            device_us=draft.device_us,
            flops=draft.flops,
            macs=draft.macs,
            saved_bytes=draft.saved_bytes,
        ),
        input_stats=None if draft.input_stats is None else tuple(draft.input_stats),
        output_stats=None if draft.output_stats is None else tuple(draft.output_stats),
        error=draft.error,
    )


def _tensor(draft: Entry, sites: Sites) -> TensorInfo:
    kind: Any = draft.kind
    return TensorInfo(
        id=draft.number,
        shape=tuple(map(int, draft.shape)),
        dtype=_name_of(draft.dtype),
        device=_name_of(draft.device),
        kind=kind,
        name=draft.name,
        aliases=draft.names,
        requires_grad=draft.requires_grad,
        strides=None if draft.strides is None else tuple(draft.strides),
        layout="strided" if draft.layout is None else str(draft.layout).removeprefix("torch."),
        storage=draft.storage,
        view_of=draft.view_of,
        grad_of=draft.grad_of,
        bytes=draft.bytes,
        site=draft.site if isinstance(draft.site, int) else sites.index(draft.site),
    )


@cache
def _name_of(value: torch.dtype | torch.device) -> str:
    """ "float32", "cuda:0"."""
    return str(value).removeprefix("torch.")


def _call(call: CallDraft) -> ModuleCall:
    return ModuleCall(
        path=call.module.path,
        call=call.call,
        parent=None if call.parent is None else call.parent.index,
        first_op=call.first_op,
        last_op=call.last_op,
        inputs=_refs(call.inputs),
        outputs=_refs(call.outputs),
        host_us=call.host_us,
        device_us=call.device_us,
        recomputed=call.recomputed,
        error=call.error,
    )
