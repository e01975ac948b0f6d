"""Follows models wrapped for several ranks, samplers that share data out, and what ranks must have in common.

The facts about this rank alone are kept here for the rules. Where `notes` is set, fingerprints of the first batches and
of the parameters are written down too, so that one process can compare the ranks when the run is over.
"""

from __future__ import annotations

import hashlib
import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler, IterableDataset

from stepscope.events.quiet import quietly
from stepscope.events.unpatched_torch import raw
from stepscope.evidence.distributed import Distributed, ParallelModel, Sampler
from stepscope.evidence.ranks import Delivered, Ended, RankFed, Spot, Weights, Wrapped
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.loaders import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.observers.ranks import Began, Notes, Trained
from stepscope.record.statistics import is_transformed

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

__all__ = ["DistributedObserver", "digest_of", "spot", "world"]

_BATCHES = 3
_LOOKS = frozenset((0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000))
_PARAMETERS = 64
_ELEMENTS = 4096
_VALUES = 4


class LiveParallelModel(ParallelModel):
    __slots__ = ("_ref",)

    def __init__(self, wrapper: Any, place: Place | None) -> None:
        size = dist.get_world_size() if dist.is_initialized() else 1
        super().__init__(type(wrapper.module).__name__, place, size)
        self._ref = weakref.ref(wrapper)

    @property
    def live(self) -> Any:
        """The wrapper itself; None when it is gone."""
        return self._ref()


class DistributedObserver(Observer, Distributed):
    steady = True

    def __init__(self, watcher: Watcher) -> None:
        Distributed.__init__(self)
        super().__init__(watcher)
        self.notes: Notes | None = None
        self._wrappers: weakref.WeakKeyDictionary[Any, ParallelModel] = weakref.WeakKeyDictionary()
        self._inside: weakref.WeakKeyDictionary[Any, ParallelModel] = weakref.WeakKeyDictionary()
        self._samplers: weakref.WeakKeyDictionary[Any, Sampler] = weakref.WeakKeyDictionary()
        self._waiting: dict[int, tuple[ParallelModel, Place | None]] = {}
        self._said_rank = False
        self._fed = 0
        self._seen: dict[int, int] = {}
        self._trained: set[int] = set()
        self._looked: set[int] = set()

    def install(self, installed: Installed) -> None:
        if not dist.is_available():
            return
        self._watch_wrapping(installed)
        self._watch_samplers(installed)

    def _watch_wrapping(self, installed: Installed) -> None:
        who = "following a distributed model"
        installed.after("torch.nn.parallel:DistributedDataParallel.__init__", who, self._wrapped)

    def _watch_samplers(self, installed: Installed) -> None:
        who, kind = "following a sampler", "torch.utils.data:DistributedSampler"
        installed.after(f"{kind}.__init__", who, self._sampler_made)
        installed.before(f"{kind}.__iter__", who, self._pass_begins)
        installed.after(f"{kind}.set_epoch", who, self._epoch_set)

    # What this rank does

    def _wrapped(self, frame: Any, result: Any, wrapper: Any, *args: Any, **kwargs: Any) -> None:
        if not self.watcher.listens():
            return
        wrap = LiveParallelModel(wrapper, own_place(frame))
        self.wraps.append(wrap)
        self._wrappers[wrapper] = wrap
        for module in wrapper.module.modules():
            self._inside[module] = wrap
        if self.notes is not None and wrap.size > 1 and wrapper.process_group.size() == wrap.size:
            self.say_rank()
            self.notes.write(Wrapped(spot(wrap.place)))

    def _sampler_made(self, frame: Any, result: Any, sampler: Any, *args: Any, **kwargs: Any) -> None:
        self._sampler(sampler, frame)

    def _sampler(self, sampler: Any, frame: Any = None) -> Sampler | None:
        if not self.watcher.listens():
            return None
        known = self._samplers.get(sampler)
        if known is None:
            place = None if frame is None else own_place(frame)
            known = Sampler(place, bool(sampler.shuffle), int(sampler.num_replicas))
            self._samplers[sampler] = known
            self.samplers.append(known)
        return known

    def _pass_begins(self, frame: Any, sampler: Any) -> None:
        known = self._sampler(sampler)
        if known is not None and len(known.epochs) < 1000:
            known.epochs.append(int(sampler.epoch))

    def _epoch_set(self, frame: Any, result: Any, sampler: Any, *args: Any, **kwargs: Any) -> None:
        known = self._sampler(sampler)
        if known is not None:
            known.sets += 1

    def root_begins(self, visit: Visit, module: Any, args: Any, kwargs: Any) -> None:
        self._note_input(visit, args, kwargs)
        if not self.wraps or not visit.grad:
            return
        wrap = self._wrappers.get(module)
        if wrap is not None:
            wrap.calls += 1
            return
        around = self._inside.get(module)
        if around is not None:
            self._waiting[id(around)] = (around, visit.place)

    def module_done(self, visit: Visit, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        if self.wraps and visit.grad and isinstance(module, DistributedDataParallel):
            wrap = self._wrappers.get(module)
            if wrap is not None:
                wrap.calls += 1

    def backward(self, backward: Backward, roots: list[Any]) -> None:
        for wrap, place in self._waiting.values():
            if len(wrap.around) < 1000:
                wrap.around.append(place)
        self._waiting.clear()
        if self.notes is not None and world() is not None:
            self._note_training()
            self._note_weights()

    def step_begins(self, step: Step, optimizer: Any) -> None:
        """Do sharded parameters have gradients that no optimizer knows of, while this one has none?"""
        if step.index >= 20 or "torch.distributed.fsdp" not in sys.modules:
            return
        held = [p for group in optimizer.param_groups for p in group["params"]]
        if any(p.grad is not None for p in held):
            return
        known = {id(p) for made in self.watcher.optimizers.made for p in made.alive()}
        models = [module for model in self.watcher.models.roots if (module := model.live()) is not None]
        named = [one for module in models for one in module.named_parameters() if self.is_sharded(one[1])]
        lost = [name for name, p in named if p.grad is not None and id(p) not in known]
        if lost:
            self.stale.setdefault(step.optimizer, []).append(lost)

    def _note_sampler(self, loader: Loader) -> None:
        """Which sampler shares this loader's data out, if it has one?"""
        alive = live(loader)
        inner = getattr(getattr(alive, "batch_sampler", None), "sampler", None)
        for one in (getattr(alive, "sampler", None), inner):
            known = self._samplers.get(one) if isinstance(one, DistributedSampler) else None
            if known is not None:
                self.shared[loader.number] = known
                return

    @staticmethod
    def is_sharded(parameter: Any) -> bool:
        """Whether this is one rank's share of a parameter."""
        return hasattr(parameter, "device_mesh") or bool(getattr(parameter, "_is_flat_param", False))

    # What is compared with the other ranks

    def say_rank(self) -> None:
        """Note our place among the ranks, once there is one."""
        place = world()
        if place is not None and not self._said_rank and self.notes is not None:
            self._said_rank = True
            self.size = place[1]
            self.notes.write(Began(*place))

    def batch(self, loader: Loader, batch: Any) -> None:
        if loader.number not in self.last_batches:
            self._note_sampler(loader)
        self.last_batches[loader.number] = self.watcher.batches
        number = self._seen.get(loader.number, 0)
        if self.notes is None or number >= _BATCHES or world() is None:
            return
        self._seen[loader.number] = number + 1
        tensors = tensors_in(batch)
        digest = digest_of(tensors)
        if digest is None:
            return
        self.say_rank()
        alive = live(loader)
        self.notes.write(
            Delivered(
                loader=loader.number,
                number=number,
                digest=digest,
                length=_length(tensors),
                sampler=loader.sampler,
                shared=_shares_out(alive),
                iterable=isinstance(getattr(alive, "dataset", None), IterableDataset),
                made=spot(loader.made),
            )
        )

    def _note_input(self, visit: Visit, args: Any, kwargs: Any) -> None:
        if self.notes is None or not visit.grad or self._fed >= _BATCHES or world() is None:
            return
        tensors = tensors_in((args, kwargs))
        digest = digest_of(tensors)
        if digest is not None:
            self.say_rank()
            self.notes.write(RankFed(self._fed, digest, _length(tensors)))
            self._fed += 1

    def _note_training(self) -> None:
        current = self.watcher.loaders.current
        if current is not None and current.number not in self._trained and self.notes is not None:
            self._trained.add(current.number)
            self.notes.write(Trained(current.number))

    def named_parameters(self) -> list[tuple[str, Any]]:
        """The parameters that should be the same on all ranks, with names that are the same on all ranks."""
        wrapped = self._wrapped_models()
        if wrapped:
            found = [
                (f"{name}", p)
                for wrapper in wrapped
                for name, p in wrapper.module.named_parameters()
                if name not in wrapper.parameters_to_ignore
            ]
        else:
            models = self.watcher.models
            held = [p for made in self.watcher.optimizers.made for p in made.alive()]
            found = [(models.name_of(p), p) for p in held]
        whole = [(name, p) for name, p in found if p.requires_grad and not self.is_sharded(p)]
        return [(f"{index}:{name}", p) for index, (name, p) in enumerate(whole[:_PARAMETERS])]

    def _wrapped_models(self) -> list[Any]:
        """The models that are DistributedDataParallel, as far as they are there."""
        found = [wrap.live for wrap in self.wraps if isinstance(wrap, LiveParallelModel)]
        return [wrapper for wrapper in found if wrapper is not None]

    def _note_weights(self) -> None:
        step = self.watcher.step
        if step not in _LOOKS or step in self._looked or self.notes is None:
            return
        self._looked.add(step)
        names, digests, values = [], [], []
        named = self.named_parameters()
        for name, parameter in named:
            digest = digest_of([parameter])
            if digest is not None:
                names.append(name)
                digests.append(digest)
                values.append(_some(parameter))
        if names:
            self.say_rank()
            self.notes.write(Weights(step, names, digests, values, self._made_at(named[0][1])))

    def _made_at(self, parameter: Any) -> Spot | None:
        """Where the outermost module of the script's that holds a parameter was made."""
        modules = [wrapper.module for wrapper in self._wrapped_models()]
        modules += [module for model in self.watcher.models.roots if (module := model.live()) is not None]
        for module in modules:
            if any(p is parameter for p in module.parameters()):
                place = self.watcher.module_records.of(module).made
                site = None if place is None else place.site
                return None if site is None else (site.file, site.line)
        return None

    def ended(self, error: BaseException | None) -> None:
        """Note how this process ended."""
        if self.notes is None:
            return
        loaders = [loader for loader in self.watcher.loaders.all if loader.is_training]
        self.notes.write(
            Ended(
                steps=self.watcher.step,
                backwards=self.watcher.steps.backward_count,
                batches={loader.number: loader.batches for loader in loaders},
                loop=spot(loaders[-1].iterated) if loaders else None,
                error=None if error is None else f"{type(error).__name__}: {error}"[:2000],
            )
        )


def world() -> tuple[int, int] | None:
    """Our rank and how many there are; None where this process trains alone."""
    if not dist.is_available() or not dist.is_initialized():
        return None
    size = dist.get_world_size()
    return (dist.get_rank(), size) if size > 1 else None


def spot(place: Place | None) -> Spot | None:
    """A place as a file and a line."""
    if place is None:
        return None
    site = place.site
    return site.file, site.line


def digest_of(tensors: list[Any]) -> str | None:
    """A short text that is the same for the same values; None where looking would wait for a device."""
    digest = hashlib.blake2b(digest_size=8)
    seen = False
    with quietly():
        for tensor in tensors:
            if tensor.device.type != "cpu" or tensor.layout is not torch.strided or is_transformed(tensor):
                continue
            flat = raw.detach(tensor).reshape(-1)
            if flat.numel() > _ELEMENTS:
                flat = flat[:: flat.numel() // _ELEMENTS]
            digest.update(f"{tuple(tensor.shape)}{tensor.dtype}".encode())
            digest.update(raw.numpy(flat.contiguous().resolve_conj().view(torch.uint8)).tobytes())
            seen = True
    return digest.hexdigest() if seen else None


def _some(parameter: Any) -> list[float]:
    with quietly():
        flat = raw.detach(parameter).reshape(-1)
        return [float(v) for v in raw.tolist(raw.double(flat[:: max(1, flat.numel() // _VALUES)][:_VALUES]))]


def _length(tensors: list[Any]) -> int:
    first = next((tensor for tensor in tensors if tensor.dim()), None)
    return int(first.shape[0]) if first is not None else 0


def _shares_out(loader: Any) -> bool:
    inner = getattr(getattr(loader, "batch_sampler", None), "sampler", None)
    samplers = (getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None), inner)
    return any(isinstance(one, DistributedSampler) or hasattr(one, "num_replicas") for one in samplers)
