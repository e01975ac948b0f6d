"""Follows models wrapped for several ranks, samplers that share data out, and what ranks must have in common.

The facts about this rank alone are kept here for the rules. Where `notes` is set, fingerprints of the first batches and
of the parameters are written down too, so that one process can compare the ranks when the run is over.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DistributedSampler, IterableDataset

from stepscope.events import Installed
from stepscope.evidence.distributed import Distributed, ParallelModel, Sampler
from stepscope.evidence.ranks import (
    Delivered,
    Ended,
    NotFinite,
    RankFed,
    RunningStats,
    Sampled,
    Saved,
    Spot,
    Weights,
    Wrapped,
)  # fmt: skip
from stepscope.record.arguments import tensors_in
from stepscope.record.fingerprints import Fingerprint, Fingerprints, digest_of
from stepscope.record.observers.loaders import live
from stepscope.record.observers.observer import Observer
from stepscope.record.observers.own_frames import own_place
from stepscope.record.observers.parallel_model import LiveParallelModel
from stepscope.record.observers.rank_buffers import LocalBuffers, unsynchronized
from stepscope.record.observers.rank_facts import host_of, length_of, shares_out, spot, subset_digest, world
from stepscope.record.observers.rank_pace import pace_of
from stepscope.record.observers.ranks import Began, Trained, Writes

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.steps import Backward, Step
    from stepscope.evidence.visits import Visit
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records.place import Place

_BATCHES = 3
_LOOKS = frozenset((0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000))
_PARAMETERS = 64
_SAVES = 50


class DistributedObserver(Observer, Distributed):
    steady = True

    def __init__(self, watcher: Watcher) -> None:
        Distributed.__init__(self)
        super().__init__(watcher)
        self.notes: Writes | None = None
        self._fingerprints = Fingerprints()
        self._wrappers: weakref.WeakKeyDictionary[Any, ParallelModel] = weakref.WeakKeyDictionary()
        self._inside: weakref.WeakKeyDictionary[Any, ParallelModel] = weakref.WeakKeyDictionary()
        self._samplers: weakref.WeakKeyDictionary[Any, Sampler] = weakref.WeakKeyDictionary()
        self._waiting: dict[int, tuple[ParallelModel, Place | None]] = {}
        self._said_rank = False
        self._fed = 0
        self._seen: dict[int, int] = {}
        self._trained: set[int] = set()
        self._looked: set[int] = set()
        self._saves: set[str] = set()
        self._lost = False
        self._own = Installed()

    def install(self, installed: Installed) -> None:
        if not dist.is_available():
            return
        installed.add(self._own.remove)
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
        if self.notes is not None and wrap.size > 1:
            self.say_rank()
            self.notes.write(Wrapped(spot(wrap.place), wrapper.process_group.size()))

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
        for one in self._live_wraps():
            one.backward(backward.place)
        if self.notes is not None and world() is not None:
            self._fingerprints.deliver()
            self._note_training()
            self._note_weights(backward)
            if backward.loss is not None and not math.isfinite(backward.loss) and not self._lost:
                self._lost = True
                self.notes.write(NotFinite(self.watcher.step, str(backward.loss), spot(backward.place)))

    def step_begins(self, step: Step, optimizer: Any) -> None:
        for one in self._live_wraps():
            one.step(optimizer)
        self._look_for_lost_shards(step, optimizer)

    def _look_for_lost_shards(self, step: Step, optimizer: Any) -> None:
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
                self._note_sharing(loader, one, known)
                return

    def _note_sharing(self, loader: Loader, sampler: Any, known: Sampler) -> None:
        if self.notes is None or world() is None:
            return
        self.say_rank()
        made = known.made or loader.made
        self.notes.write(
            Sampled(
                loader=loader.number,
                seed=int(sampler.seed),
                shuffles=known.shuffles,
                replicas=known.size,
                length=len(sampler.dataset),
                indices=subset_digest(sampler.dataset),
                made=spot(made),
                loader_made=spot(loader.made),
                rank=int(sampler.rank),
            )
        )

    def saves(self, path: str, place: Place | None) -> None:
        """`torch.save` is about to write this file."""
        path = os.path.abspath(path)
        if self.notes is None or world() is None or path in self._saves or len(self._saves) >= _SAVES:
            return
        if not self._saves:
            for function in ("os:rename", "os:replace"):
                self._own.after(function, "following a saved file", self._renamed)
        self._note_file(path, place)

    def _renamed(self, frame: Any, result: Any, src: Any, dst: Any, *args: Any, **kwargs: Any) -> None:
        """A file that was saved under another name first."""
        if not isinstance(src, str | os.PathLike) or os.path.abspath(src) not in self._saves:
            return
        path = os.path.abspath(os.fspath(dst))
        if path not in self._saves and world() is not None:
            self._note_file(path, own_place(frame), is_renamed=True)

    def _note_file(self, path: str, place: Place | None, *, is_renamed: bool = False) -> None:
        if self.notes is None:
            return
        self._saves.add(path)
        self.say_rank()
        self.notes.write(Saved(path, host_of(path), self.watcher.step, spot(place), is_renamed))

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
                length=length_of(tensors),
                sampler=loader.sampler,
                shared=shares_out(alive),
                iterable=isinstance(getattr(alive, "dataset", None), IterableDataset),
                made=spot(loader.made),
            )
        )

    def _note_input(self, visit: Visit, args: Any, kwargs: Any) -> None:
        if self.notes is None or not visit.grad or self._fed >= _BATCHES or world() is None:
            return
        tensors = tensors_in((args, kwargs))
        if tensors:
            number, length = self._fed, length_of(tensors)
            self._fed += 1
            self.say_rank()
            self._fingerprints.ask(tensors, lambda found: self._note_fed(number, length, found))

    def _note_fed(self, number: int, length: int, found: list[Fingerprint]) -> None:
        together = "".join(digest for digest, _ in found)
        if together and self.notes is not None:
            digest = hashlib.blake2b(together.encode(), digest_size=8).hexdigest()
            self.notes.write(RankFed(number, digest, length))

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
        return [wrap.live for wrap in self._live_wraps()]

    def _live_wraps(self) -> list[LiveParallelModel]:
        return [wrap for wrap in self.wraps if isinstance(wrap, LiveParallelModel) and wrap.live is not None]

    def _note_weights(self, backward: Backward) -> None:
        step = self.watcher.step
        if step not in _LOOKS or step in self._looked or self.notes is None:
            return
        self._looked.add(step)
        named = self.named_parameters()
        if named:
            self.say_rank()
            self.notes.write(pace_of(self.watcher, self._live_wraps()))
            names, where = [name for name, _ in named], (self._made_at(named[0][1]), spot(backward.place))
            self._fingerprints.ask([p for _, p in named], lambda found: self._note_digests(step, names, found, *where))
        buffers = unsynchronized(self.watcher, self._wrapped_models())
        if buffers.all:
            self._fingerprints.ask([b for _, b in buffers.all], lambda found: self._note_buffers(step, buffers, found))

    def _note_digests(
        self, step: int, names: list[str], found: list[Fingerprint], made: Spot | None, backward: Spot | None
    ) -> None:
        seen = [(name, one) for name, one in zip(names, found, strict=True) if one[0]]
        if seen and self.notes is not None:
            digests, values = [one[0] for _, one in seen], [one[1] for _, one in seen]
            self.notes.write(Weights(step, [name for name, _ in seen], digests, values, made, backward))

    def _note_buffers(self, step: int, buffers: LocalBuffers, found: list[Fingerprint]) -> None:
        digests = [digest for digest, _ in found]
        if self.notes is not None and all(digests):
            place = self._wrapped_at() or self._made_first()
            self.notes.write(RunningStats(step, [name for name, _ in buffers.all], digests, place, len(buffers.others)))

    def _wrapped_at(self) -> Spot | None:
        """Where a model was wrapped that keeps its buffers to itself."""
        for wrap in self._live_wraps():
            if not wrap.live.broadcast_buffers:
                return spot(wrap.place)
        return None

    def _made_first(self) -> Spot | None:
        models = [module for model in self.watcher.models.roots if (module := model.live()) is not None]
        first = next((p for model in models for p in model.parameters()), None)
        return None if first is None else self._made_at(first)

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
        self._fingerprints.deliver(wait=error is None)
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
