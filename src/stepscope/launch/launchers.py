"""`stepscope run torchrun --nproc-per-node 2 train.py`: the launcher starts the ranks, each of them a Stepscope run.

People put `stepscope run` before the command they know. A launcher has nothing to be watched; so its command is changed
to start `stepscope run` for every rank, and this process becomes the launcher.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from stepscope.errors import UsageError
from stepscope.launch.exit_handling import LastWord, say_uncaught, without_our_frames
from stepscope.launch.script import find_module, run_as_main
from stepscope.track import messages

_MODULES = {"torchrun": "torch.distributed.run", "accelerate": "accelerate.commands.accelerate_cli"}
_OTHERS = ("srun", "mpirun", "mpiexec", "jsrun", "deepspeed", "horovodrun", "composer")
_PYTHONS = ("python", "python3")


def is_launcher(name: str) -> bool:
    """Whether this is the name of a program that starts ranks, and of no file here; or the path of such a program."""
    folder, program = os.path.split(name)
    return program in (*_MODULES, *_OTHERS, *_PYTHONS) and (bool(folder) or not os.path.exists(name))


def launcher_command(name: str, words: Sequence[str], ours: Sequence[str]) -> list[str]:
    """The launcher's own command with `-m stepscope run` before the script.

    >>> launcher_command("torchrun", ["--nproc-per-node", "2", "train.py", "--lr", "1"], ["--quiet"])[1:7]
    ['-m', 'torch.distributed.run', '--nproc-per-node', '2', '-m', 'stepscope']
    """
    name = os.path.basename(name)
    if name in _PYTHONS:
        raise UsageError(f"leave out {name!r}: stepscope run {' '.join(words)}")
    if name in _OTHERS:
        raise UsageError(f"put {name} first: {name} ... python -m stepscope run train.py")
    rest = list(words)
    if name == "accelerate":
        if rest[:1] != ["launch"]:
            raise UsageError("only `accelerate launch` starts a training: stepscope run accelerate launch train.py")
        del rest[0]
    parsed = _parsed(name, rest)
    if getattr(parsed, "no_python", False):
        raise UsageError("--no-python starts a program that is not Python; Stepscope watches Python scripts")
    if name == "accelerate":
        _tell_of_one_process(parsed)
    given = list(parsed.training_script_args)
    options = rest[: len(rest) - len(given) - 1]
    is_module = bool(parsed.module)
    return [
        sys.executable,
        "-m",
        _MODULES[name],
        *(["launch"] if name == "accelerate" else []),
        *options,
        *([] if is_module else ["-m"]),
        "stepscope",
        "run",
        *ours,
        *(["-m"] if is_module else []),
        parsed.training_script,
        *given,
    ]


def _tell_of_one_process(parsed: Any) -> None:
    """On the CPU `accelerate launch` starts several processes only through MPI, and says nothing of it."""
    wanted = parsed.num_processes or 1
    if parsed.cpu and wanted > 1 and parsed.mpirun_hostfile is None:
        messages.say(
            f"accelerate launch starts one process on the CPU, not {wanted}; for {wanted}: "
            f"stepscope run torchrun --nproc-per-node {wanted} {parsed.training_script}"
        )


def _parsed(name: str, words: list[str]) -> Any:
    """The launcher's own parser knows which of its options take a value. It reports its own mistakes."""
    try:
        if name == "torchrun":
            from torch.distributed.run import get_args_parser

            return get_args_parser().parse_args(words)
        from accelerate.commands.launch import launch_command_parser

        return launch_command_parser().parse_args(words)
    except ImportError:
        package = "torch" if name == "torchrun" else name
        raise UsageError(f"{name} needs the package {package}, which this Python does not have") from None


def start_launcher(command: list[str]) -> NoReturn:
    """Become the launcher: exit code, signals and errors are those of `python -m torch.distributed.run ...`.

    This process has imported torch for the launcher's parser; a new one would import it a second time.
    """
    script = find_module(command[2], command[3:])
    last_word = LastWord()
    try:
        run_as_main(script)
    except SystemExit:
        raise
    except BaseException as error:
        say_uncaught(without_our_frames(error))
        if isinstance(error, KeyboardInterrupt):
            last_word.interrupted()
        sys.exit(1)
    sys.exit()
