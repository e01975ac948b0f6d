"""Profiles of launched scripts: the right steps, the same training to the bit, nothing lost, nothing in the way."""

from __future__ import annotations

import gzip
import json
import socket
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.profile.profile import Profile, profiles_in

from .conftest import Done, launch_all

TRAIN = """
    import os, sys, torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    workers, epochs = int(sys.argv[1]), int(sys.argv[2])
    x = torch.randn(40, 6); y = (x[:, 0] > 0).long()
    train = DataLoader(TensorDataset(x[:32], y[:32]), batch_size=4, shuffle=True, num_workers=workers)
    val = DataLoader(TensorDataset(x[32:], y[32:]), batch_size=4)
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    try:
        for epoch in range(epochs):
            model.train()
            for inputs, labels in train:
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(model(inputs), labels)
                loss.backward()
                optimizer.step()
                print("step", f"{loss.item():.9f}")
            model.eval()
            with torch.no_grad():
                print("val", sum(model(inputs).sum().item() for inputs, labels in val))
        print("weights", sum(p.double().sum().item() for p in model.parameters()), torch.rand(1).item())
    finally:
        print("finally")
    """
MANUAL = """
    import torch
    w = torch.nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([w], lr=0.1)
    for i in range(40):
        optimizer.zero_grad()
        (w - 1).square().sum().backward()
        optimizer.step()
        print("step", i)
    """
CRASH = MANUAL.replace('print("step", i)', 'print("step", i)\n        if i == 5: raise ValueError("in the window")')
SIGNAL = "import os, signal, threading\n" + textwrap.dedent(MANUAL).replace(
    'print("step", i)', 'print("step", i)\n    if i == 7: os.kill(os.getpid(), signal.SIGUSR2)'
)
OWN = """
    import torch
    w = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(w.parameters(), lr=0.1)
    plan = torch.profiler.schedule(wait=2, warmup=1, active=3, repeat=1)
    with torch.profiler.profile(schedule=plan, with_stack=True,
                                on_trace_ready=lambda p: p.export_chrome_trace("own.json")) as p:
        for i in range(12):
            optimizer.zero_grad(); w(torch.ones(2, 3)).sum().backward(); optimizer.step(); p.step()
    print("done", sum("ProfilerStep#" in line for line in open("own.json")))
    """
BLOCK = """
    import stepscope, torch
    w = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(w.parameters(), lr=0.1)
    with stepscope.profile() as p:
        for i in range(8):
            optimizer.zero_grad(); w(torch.ones(2, 3)).sum().backward(); optimizer.step()
    print(p.result.meta.first_step, p.result.meta.last_step, p.profiles[0].parent.name)
    """
COMPILED = """
    import torch
    torch.manual_seed(0)
    layers = torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)
    model = torch.compile(torch.nn.Sequential(*layers), backend="eager")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i in range(14):
        optimizer.zero_grad(); loss = model(torch.randn(2, 4)).sum(); loss.backward(); optimizer.step()
        print("step", f"{loss.item():.9f}")
    counters = torch._dynamo.utils.counters
    print("weights", counters["stats"]["unique_graphs"], dict(counters["graph_break"]))
    """
STREAM = """
    import torch
    from torch.utils.data import DataLoader, IterableDataset
    class Stream(IterableDataset):
        def __iter__(self): return iter(torch.ones(5, 3))
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Stream(), batch_size=1)
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
        with torch.no_grad():
            for _ in range(20): torch.ones(4).exp()
    """
STEPS = ["--steps", "10:13"]
CASES: dict[str, tuple[str, list[str], list[str]]] = {
    "plain": (TRAIN, ["run", "--no-run", "--no-diagnose"], ["0", "3"]),
    "auto": (TRAIN, ["profile", "--dir", "auto", *STEPS, "--keep-running"], ["0", "3"]),
    "advanced": (
        TRAIN,
        ["profile", "--dir", "advanced", "--profiler", "advanced", *STEPS, "--keep-running"],
        ["0", "3"],
    ),
    "simple": (TRAIN, ["profile", "--dir", "simple", "--profiler", "simple", "--keep-running"], ["0", "3"]),
    "workers plain": (TRAIN, ["run", "--no-run", "--no-diagnose"], ["2", "2"]),
    "workers": (TRAIN, ["profile", "--dir", "workers", *STEPS, "--keep-running"], ["2", "2"]),
    "run": (TRAIN, ["run", "--dir", "run", "--profile-on", "10:13"], ["0", "3"]),
    "stops": (TRAIN, ["profile", "--dir", "stops", *STEPS, "--json", "-"], ["0", "3"]),
    "manual": (MANUAL, ["profile", "--dir", "manual", "--steps", "5:8", "--no-with-stack", "--no-profile-memory"], []),
    "first step": (MANUAL, ["profile", "--dir", "first", "--steps", "0:2"], []),
    "crash": (CRASH, ["profile", "--dir", "crash", "--steps", "3:20"], []),
    "short": (MANUAL, ["profile", "--dir", "short", "--steps", "90:95"], []),
    "stream": (STREAM, ["profile", "--dir", "stream", "--steps", "3:8"], []),
    "settles": (MANUAL.replace("40", "400"), ["profile", "--dir", "settles"], []),
    "signal": (SIGNAL, ["run", "--dir", "signal", "--profile-on", "signal"], []),
    "own": (OWN, ["profile", "--dir", "own"], []),
    "own run": (OWN, ["run", "--dir", "own-run", "--profile-on", "3:6"], []),
    "block": (BLOCK, ["profile", "--dir", "block", "--steps", "2:4", "--keep-running"], []),
    "compiled plain": (COMPILED, ["run", "--no-run", "--no-diagnose"], []),
    "compiled": (COMPILED, ["profile", "--dir", "compiled", "--steps", "8:10", "--keep-running"], []),
    "nothing": ("print('no training')", ["profile", "--dir", "nothing"], []),
}
WINDOW, TORCH, FACTS = (f"stepscope.profile.collect.{name}" for name in ("windows", "torch_window", "facts"))
BREAKS = {
    "broken windows": [f"{WINDOW}:Windows"],
    "broken window": [f"{TORCH}:TorchWindow.start"],
    "broken turns": [
        "stepscope.launch.step_boundaries:Iterations.begin",
        "stepscope.launch.step_boundaries:Iterations.end",
    ],
    "broken end": [f"{TORCH}:TorchWindow.save", f"{FACTS}:Facts.install", f"{FACTS}:Facts.result"],
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, Path]]:
    found = {}
    cases = []
    all_cases = CASES | {
        name: (TRAIN, ["profile", "--dir", name, *STEPS, "--keep-running"], ["0", "3"]) for name in BREAKS
    }
    for name, (source, options, args) in all_cases.items():
        folder = tmp_path_factory.mktemp(name.replace(" ", "-"))
        (folder / "train.py").write_text(textwrap.dedent(source))
        case: dict[str, Any] = {
            "args": [*options, "train.py", *args],
            "cwd": str(folder),
            "break": BREAKS.get(name, []),
        }
        cases.append(case)
    for name, case, result in zip(all_cases, cases, launch_all(cases, torch=True), strict=True):
        found[name] = (result, Path(case["cwd"]))
    return found


@pytest.fixture(scope="module")
def profile_of(done: dict[str, tuple[Done, Path]]) -> Callable[..., Profile]:
    def find(name: str, id: str | None = None) -> Profile:
        result, folder = done[name]
        option = CASES[name][1][CASES[name][1].index("--dir") + 1]
        runs = [path for path in (folder / option).iterdir() if not path.name.startswith(".")]
        assert len(runs) == 1, result.err
        found = {path.name: path for path in profiles_in(runs[0])}
        assert found, result.err
        return Profile.load(found[id] if id is not None else list(found.values())[-1])

    return find


def of_script(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.split(" ")[0] in ("step", "val", "weights", "finally")]


@pytest.mark.parametrize("name", ["auto", "advanced", "simple", "run", *BREAKS])
def test_a_profiled_training_is_the_same_to_the_bit(done: dict[str, tuple[Done, Path]], name: str) -> None:
    result = done[name][0]
    assert result.code == 0, result.err
    assert of_script(result.out) == of_script(done["plain"][0].out)
    assert len(of_script(result.out)) == 24 + 3 + 2


def test_and_so_it_is_with_workers(done: dict[str, tuple[Done, Path]]) -> None:
    assert of_script(done["workers"][0].out) == of_script(done["workers plain"][0].out)


def test_compiled_models_stay_compiled_in_one_piece(profile_of: Callable[..., Profile], done: Any) -> None:
    assert of_script(done["compiled"][0].out) == of_script(done["compiled plain"][0].out)
    assert of_script(done["compiled"][0].out)[-1] == "weights 1 {}"
    trace = profile_of("compiled").trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [8, 9]


RANKS = """
    import torch, torch.distributed as dist
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i in range(1000):
        optimizer.zero_grad(); model(torch.randn(2, 4)).sum().backward(); optimizer.step()
    print("not ended")
    """


def test_all_ranks_record_the_same_steps_and_end_together(tmp_path: Path) -> None:
    """Also when one of them cannot save what it recorded."""
    (tmp_path / "train.py").write_text(textwrap.dedent(RANKS))
    spare = tmp_path / "spare"
    spare.mkdir()
    (spare / "train.py").write_text(textwrap.dedent(RANKS))
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        port, other = one.getsockname()[1], two.getsockname()[1]
    job = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    cases = [
        {
            "args": ["profile", "train.py"],
            "cwd": str(tmp_path),
            "env": {**job, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        }
        for rank in (0, 1)
    ]
    broken = [{**case, "env": {**case["env"], "MASTER_PORT": str(other)}, "cwd": str(spare)} for case in cases]  # type: ignore[dict-item]
    broken[1]["break"] = [f"{TORCH}:TorchWindow.save"]
    for result in launch_all([*cases, *broken], torch=True):
        assert result.code == 0, result.err
        assert "not ended" not in result.out
    (run,) = [path for path in (tmp_path / "stepscope-runs").iterdir() if not path.name.startswith(".")]
    (folder,) = profiles_in(run)
    profile = Profile.load(folder)
    assert (profile.ranks, profile.meta.world) == ([0, 1], 2)
    for rank in profile.ranks:
        trace = profile.trace(rank)
        assert trace is not None
        assert [step.number for step in trace.steps] == [20, 21, 22]
        assert profile.phases(rank) is not None
        assert profile.facts(rank)


@pytest.mark.parametrize("name", ["auto", "workers", "run", "stops"])
def test_the_steps_that_were_asked_for_are_in_the_trace(profile_of: Callable[..., Profile], name: str) -> None:
    profile = profile_of(name, "step-000010")
    assert (profile.meta.kind, profile.meta.first_step, profile.meta.last_step) == ("pytorch", 10, 12)
    assert profile.meta.why == "steps 10 to 12, as requested"
    trace = profile.trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [10, 11, 12]
    forward = trace.events.named(lambda text: text == "aten::linear")
    assert forward.sum() == 2 * 3  # two layers, three steps: nothing of the validation, of ours or of other steps


def test_columns_hold_what_torch_wrote(profile_of: Callable[..., Profile]) -> None:
    profile = profile_of("auto", "step-000010")
    assert profile.folder is not None
    names = {path.name for path in profile.folder.iterdir()}
    assert {"profile.json", "rank0.events", "rank0.trace.json.gz", "rank0.phase.events", "rank0.phases"} <= names
    assert "rank0.trace.json" not in names
    raw = json.loads(gzip.decompress((profile.folder / "rank0.trace.json.gz").read_bytes()))
    ops = [event for event in raw["traceEvents"] if event.get("cat") == "cpu_op"]
    trace = profile.trace()
    assert trace is not None
    assert trace.events.of_cat("cpu_op").sum() == len(ops) > 50


def test_phases_of_the_window_lie_inside_its_steps(profile_of: Callable[..., Profile]) -> None:
    trace = profile_of("auto", "step-000010").trace()
    assert trace is not None
    rows = trace.events.of_cat("phase")
    names = {trace.events.names[name] for name in trace.events.name[rows]}
    assert {"data", "forward", "backward", "optimizer"} <= names
    slack = 2_000_000
    for step in trace.steps:
        of_step = rows & (trace.events.real("step") == step.number)
        assert of_step.sum() >= 5
        assert trace.events.start[of_step].min() >= step.begin_ns - slack
        assert trace.events.end[of_step].max() <= step.end_ns + slack


def test_every_run_keeps_its_steps_by_phase(profile_of: Callable[..., Profile]) -> None:
    phases = profile_of("run", "simple").phases()
    assert phases is not None
    assert phases.steps == [step for step in range(24) if step not in (8, 9, 10, 11, 12)]  # probe, warm-up, window
    for wall, parts in zip(phases.wall_ns, phases.parts_ns, strict=True):
        assert sum(parts) == wall > 0
    keys = [part.key for part in phases.parts]
    assert keys == ["data", "h2d", "forward", "backward", "optimizer", "other"]
    assert phases.typical_ns[keys.index("h2d")] == 0
    assert min(phases.typical_ns[keys.index(key)] for key in ("data", "forward", "backward", "optimizer")) > 0


def test_the_script_is_ended_when_there_is_enough(done: dict[str, tuple[Done, Path]]) -> None:
    result = done["stops"][0]
    assert result.code == 0
    told = json.loads(result.out)  # what the script printed went to stderr
    assert of_script(result.err)[-1] == "finally"
    assert len([line for line in of_script(result.err) if line.startswith("step")]) == 13
    assert told["profile"]["first_step"] == 10
    assert told["headline"]
    assert told["answers"]["operators"]["rows"]


def test_a_loop_without_a_loader_has_steps_too(profile_of: Callable[..., Profile], done: Any) -> None:
    profile = profile_of("manual", "step-000005")
    assert profile.meta.options["with_stack"] is False
    assert profile.meta.options["profile_memory"] is False
    trace = profile.trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [5, 6, 7]
    assert done["manual"][0].out.splitlines()[7] == "step 7"  # what follows the last step still happened


def test_a_stream_may_end_in_the_window(profile_of: Callable[..., Profile]) -> None:
    profile = profile_of("stream")
    assert (profile.meta.first_step, profile.meta.last_step) == (3, 7)
    trace = profile.trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [3, 4, 5, 6, 7]
    linear = trace.events.named(lambda text: text == "aten::linear")
    assert trace.step_of[linear].tolist() == [0, 1, 2, 3, 4]
    assert (trace.step_of[trace.events.named(lambda text: text == "aten::exp")] == -1).all()


def test_the_very_first_steps_can_be_recorded(profile_of: Callable[..., Profile]) -> None:
    trace = profile_of("first step").trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [0, 1]


def test_by_itself_it_waits_for_the_pace_and_for_enough_steps(profile_of: Callable[..., Profile], done: Any) -> None:
    profile = profile_of("settles")
    assert profile.meta.why == "after the warm-up"
    assert profile.meta.first_step is not None
    assert 25 <= profile.meta.first_step <= 40  # three watched in detail, 25 timed, a probe, a warm-up
    trace, phases = profile.trace(), profile.phases()
    assert trace is not None
    assert len(trace.steps) == 5
    assert phases is not None
    assert 150 <= len(phases.steps) <= 201
    assert len(done["settles"][0].out.splitlines()) < 300
    assert profile.stacks() is not None
    assert profile.facts()["optimizers"]


def test_a_crash_in_a_window_leaves_what_there_is(profile_of: Callable[..., Profile], done: Any) -> None:
    result = done["crash"][0]
    assert result.code == 1
    assert "ValueError: in the window" in result.err
    trace = profile_of("crash").trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [3, 4, 5]


def test_a_script_that_ends_too_soon_is_judged_by_its_phases(profile_of: Callable[..., Profile], done: Any) -> None:
    profile = profile_of("short")
    assert profile.trace() is None
    phases = profile.phases()
    assert phases is not None
    assert len(phases.steps) >= 30
    assert "--steps 20:40" in done["short"][0].out
    assert "a step takes" in done["short"][0].out


def test_a_signal_asks_for_a_window(profile_of: Callable[..., Profile], done: Any) -> None:
    assert len(done["signal"][0].out.splitlines()) == 40
    profile = profile_of("signal")
    assert profile.meta.why == "the process got SIGUSR2"
    assert profile.meta.first_step is not None
    assert 8 <= profile.meta.first_step <= 12


@pytest.mark.parametrize("name", ["own", "own run"])
def test_the_scripts_own_profiler_works_as_ever(done: dict[str, tuple[Done, Path]], name: str) -> None:
    result = done[name][0]
    assert result.code == 0, result.err
    assert "done 3" in result.out
    assert "Traceback" not in result.err


def test_its_trace_is_read_instead_of_one_of_ours(profile_of: Callable[..., Profile], done: Any) -> None:
    profile = profile_of("own")
    trace = profile.trace()
    assert trace is not None
    assert [step.number for step in trace.steps] == [3, 4, 5]
    assert any("torch.profiler itself" in note for note in profile.meta.notes)


def test_a_block_of_the_script_is_profiled_beside(done: dict[str, tuple[Done, Path]]) -> None:
    assert done["block"][0].code == 0, done["block"][0].err
    assert "0 7 profiles" in done["block"][0].out


def test_without_training_there_is_nothing_to_say(done: dict[str, tuple[Done, Path]]) -> None:
    result = done["nothing"][0]
    assert result.code == 0
    said = " ".join((result.out + result.err).split())  # where Python could be sampled in time, that is shown
    assert "train.py made no optimizer step" in said or "there are no steps to take apart" in said
