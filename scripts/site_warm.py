"""`python` and `stepscope` that start at once: forks of a process that has imported torch already.

Importing it takes longer than most examples. `Warm` makes a folder of two commands for the front of PATH; each hands
its words, folder, environment and the three files to the waiting process, and ends as the fork there ends. What is no
script (`python -c`, `python -m`) goes to the real program.
"""

from __future__ import annotations

import array
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

_COMMAND = """#!{python} -ISB
import array, json, os, socket, sys
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
if name == "python" and not (words and words[0].endswith(".py")):
    os.execv({home!r} + "/python", [{home!r} + "/python", *words])
place = socket.socket(socket.AF_UNIX)
place.connect({place!r})
asked = json.dumps([name, words, os.getcwd(), dict(os.environ)]).encode()
place.sendmsg([len(asked).to_bytes(8, "little")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
place.sendall(asked)
answer = place.recv(16)
code = int(answer) if answer else 1
sys.exit(code if code >= 0 else 128 - code)
"""


class Warm:
    """The two commands of one environment, in `folder`. To be closed."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        place = str(folder / "socket")
        for name in ("python", "stepscope"):
            command = folder / name
            command.write_text(_COMMAND.format(python=home / "python", home=str(home), place=place))
            command.chmod(0o755)
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [str(home / "python"), __file__, place], env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it listens

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


def _serve(place: str) -> None:
    import torch
    import torch._dynamo

    import stepscope.cli.main  # noqa: F401

    torch.set_num_threads(1)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen(16)
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the forks are nobody's to wait for
    while True:
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _attend(asking)
        asking.close()


def _attend(asking: socket.socket) -> None:
    """Have the command done by a child of this process, which waits for it as a shell would."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    files = array.array("i")
    size, sent, _, _ = asking.recvmsg(8, socket.CMSG_SPACE(3 * files.itemsize))
    files.frombytes(sent[0][2])
    text = b""
    while len(text) < int.from_bytes(size, "little"):
        text += asking.recv(1 << 20)
    child = os.fork()
    if child == 0:
        asking.close()
        _be(*json.loads(text), list(files))
    for file in files:
        os.close(file)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    asking.sendall(str(code).encode())
    os._exit(0)


def _be(name: str, words: list[str], folder: str, environment: dict[str, str], files: list[int]) -> None:
    """Run the command as the process that it seems to be, to its end."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.modules["__main__"] = ModuleType("__main__")
    code: object = 0
    try:
        if name == "python":
            sys.argv, sys.path[0] = words, str(Path(words[0]).resolve().parent)
            runpy.run_path(words[0], run_name="__main__")
        else:
            from stepscope.cli.main import main

            sys.argv, sys.path[0] = [name, *words], str(Path(sys.executable).parent)
            code = main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    _end(code)


def _end(code: object) -> None:
    """As Python ends: threads are waited for, then what was registered is done."""
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    sys.modules["site_warm"] = sys.modules.pop("__main__")  # the script is `__main__`
    _serve(sys.argv[1])
