"""A launched script cannot tell the difference: the same output, errors and exit codes as under plain Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Done, environment, launch_all

SCRIPTS = {
    "names": """
        import os, sys
        print(__name__, __file__, __spec__, __package__, sys.argv, sys.path[0], os.getcwd())
        print(sorted(globals()), __builtins__, type(__loader__).__name__)
        import __main__; print(__main__.__dict__ is globals(), sys.modules["__main__"] is __main__)
        """,
    "stacks": """
        import sys, traceback
        def inner(): traceback.print_stack(file=sys.stdout); return len(traceback.extract_stack())
        print(inner(), len(list(traceback.walk_stack(sys._getframe()))))
        """,
    "exit code": "import sys; print('before'); sys.exit(3)",
    "exit message": "import sys; sys.exit('no such dataset')",
    "exit nothing": "import sys; sys.exit()",
    "exit raised": "raise SystemExit(7)",
    "exit builtin": "quit(4)",
    "exit caught": """
        import sys
        try: sys.exit(3)
        except SystemExit: print("stays")
        """,
    "error": """
        def load(name):
            try: return {}[name]
            except KeyError as error: raise ValueError(f"no {name}") from error
        print("loading"); load("data")
        """,
    "error in finally": """
        try: 1 / 0
        finally: print("cleaned up")
        """,
    "syntax": "print('never')\ndef broken(:\n    pass\n",
    "interrupt": """
        import atexit; atexit.register(print, "goodbye")
        raise KeyboardInterrupt
        """,
    "sigint": """
        import os, signal, time
        try:
            os.kill(os.getpid(), signal.SIGINT); time.sleep(1)
        except KeyboardInterrupt: print("caught"); raise
        """,
    "sigterm": "import os, signal, time; print('x', flush=True); os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)",
    "sigterm handled": """
        import os, signal, sys
        signal.signal(signal.SIGTERM, lambda *a: sys.exit(9)); os.kill(os.getpid(), signal.SIGTERM)
        """,
    "atexit and threads": """
        import atexit, threading, time
        atexit.register(print, "first registered, last run"); atexit.register(print, "last registered, first run")
        printed = threading.Event()
        def work(): printed.wait(); time.sleep(0.05); print("thread done")
        threading.Thread(target=work).start()
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        print("main done"); printed.set()
        """,
    "threads that wait for the main one": """
        import atexit, threading, time
        def waits(): threading.main_thread().join(); print("joined", flush=True)
        def polls():
            while threading.main_thread().is_alive(): time.sleep(0.01)
            time.sleep(0.3); print("seen", flush=True)
        atexit.register(print, "at exit")
        for target in (waits, polls): threading.Thread(target=target).start()
        print("main done", flush=True)
        """,
    "signals in order": """
        import os, signal
        got = []
        before = [signal.signal(n, lambda n, f: got.append(n)) for n in (signal.SIGTERM, signal.SIGUSR1)]
        os.kill(os.getpid(), signal.SIGTERM); os.kill(os.getpid(), signal.SIGUSR1)
        print(got, before, signal.getsignal(signal.SIGTERM).__name__, signal.getsignal(signal.SIGTERM).__module__)
        signal.signal(signal.SIGTERM, signal.SIG_DFL); print(signal.getsignal(signal.SIGTERM), flush=True)
        os.kill(os.getpid(), signal.SIGTERM); print("never")
        """,
    "stays in its own frames": """
        import inspect, sys
        def handler(kind, error, trace): print(kind.__name__, len(inspect.getinnerframes(trace)))
        class Loud:
            def __str__(self): return str([f.function for f in inspect.stack()[:2]])
        print(Loud()); print(sys.stdout.write("x\\n"), sys.stdout.write.__name__, sys.exit.__name__)
        sys.excepthook = handler
        1 / 0
        """,
    "pool left open": """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(2); print(pool.submit(sum, [1, 2]).result())
        """,
    "thread fails": """
        import threading
        thread = threading.Thread(target=lambda: 1 / 0, name="worker"); thread.start(); thread.join(); print("goes on")
        """,
    "hook of its own": """
        import sys
        sys.excepthook = lambda kind, error, trace: print("hook", kind.__name__, error, trace.tb_lineno)
        raise RuntimeError("oops")
        """,
    "hook that fails": """
        import sys
        def hook(*a): raise OSError("no")
        sys.excepthook = hook
        raise RuntimeError("oops")
        """,
    "pickles itself": """
        import pickle
        class Point:
            def __init__(self, x): self.x = x
        data = pickle.dumps(Point(3)); print(b"__main__" in data, pickle.loads(data).x, Point.__module__)
        """,
    "spawn": """
        import multiprocessing as mp, sys
        class Job:
            def __init__(self, n): self.n = n
        def work(job, answers): answers.put((job.n * 2, __name__, "stepscope" in sys.modules))
        if __name__ == "__main__":
            context = mp.get_context("spawn"); answers = context.Queue()
            child = context.Process(target=work, args=(Job(4), answers)); child.start()
            print(answers.get()); child.join(); print(child.exitcode)
        """,
    "fork": """
        import multiprocessing as mp, os, sys
        def work(n): print("child", n, flush=True); sys.exit(n)
        context = mp.get_context("fork")
        children = [context.Process(target=work, args=(n,)) for n in (2,)]
        for child in children: child.start()
        for child in children: child.join(); print(child.exitcode)
        """,
    "stdin": "print(input('name? ').upper()); import sys; print(sys.stdin.read().split())",
    "os exit": "import os; print('x', flush=True); os._exit(5)",
    "exec": """
        import os, sys
        if len(sys.argv) == 1: sys.stdout.flush(); os.execv(sys.executable, [sys.executable, __file__, "again"])
        print("second life", sys.argv[1])
        """,
    "argparse wrong": """
        import argparse
        parser = argparse.ArgumentParser(); parser.add_argument("--lr", required=True); parser.parse_args()
        """,
    "source of its own": """
        import inspect, typing, dataclasses
        @dataclasses.dataclass
        class Config:
            lr: "float" = 0.1
        def forward(x):
            return x + 1
        print(inspect.getsource(forward), typing.get_type_hints(Config), inspect.getfile(forward))
        """,
    "settrace": """
        import sys
        seen = []
        def trace(frame, event, arg): seen.append(frame.f_code.co_name); return None
        def f(): return 1
        sys.settrace(trace); f(); sys.settrace(None); print(seen)
        """,
    "warns": "import warnings; warnings.warn('old'); print('on')",
    "sibling": "import sibling; print(sibling.here)",
    "module named as one of Python's": """
        import os, sys; sys.path.insert(0, os.path.join(os.path.dirname(__file__), "shadows"))
        import pickle, numpy, csv; print(pickle.here, numpy.here, csv.here)
        """,
    "several errors": "raise ExceptionGroup('both', [ValueError(1), KeyError('k')])"
    if sys.version_info >= (3, 11)
    else "",
    "encoding": "# -*- coding: latin-1 -*-\nprint('caf\u00e9'.encode('utf-8'))",
    "closes stdout": "import sys; print('x'); sys.stdout.close()",
}
INPUT = {"stdin": "ada\nmore words\n"}
"""What is typed to the script of that name."""


def write_scripts(folder: Path) -> dict[str, Path]:
    import textwrap

    (folder / "sibling.py").write_text("here = __name__\n")
    paths = {}
    for name, text in SCRIPTS.items():
        path = paths[name] = folder / f"{name.replace(' ', '_').replace(chr(39), '')}.py"
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="latin-1" if name == "encoding" else "utf-8")
    shadows = folder / "shadows"
    shadows.mkdir()
    for name in ("pickle", "numpy", "csv"):
        (shadows / f"{name}.py").write_text("here = __name__\n")
    package = folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("value = 5\n")
    (package / "train.py").write_text(
        "import sys\nfrom . import value\nprint(__name__, __package__, __spec__.name, sys.argv, value)\n"
        "class Net: pass\nimport pickle; print(type(pickle.loads(pickle.dumps(Net()))).__module__)\n"
        "raise OSError('end')\n"
    )
    (package / "__main__.py").write_text("from pkg import train\n")
    return paths


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, Done]]:
    """Each script under Python and under the launcher, without and with a run folder alternately."""
    folder = tmp_path_factory.mktemp("scripts")
    paths = write_scripts(folder)
    lines = {name: [str(path.name), "--lr" if "wrong" in name else "a b"] for name, path in paths.items()}
    lines |= {name: [path.name] for name, path in paths.items() if name == "exec"}
    lines |= {"module": ["-m", "pkg.train", "--lr", "3", "-m"], "package": ["-m", "pkg"]}
    plain = {name: python(folder, line, INPUT.get(name, "")) for name, line in lines.items()}
    keeps = [["--dir", "runs", "-q"], ["--no-run", "-q"]]
    cases = [
        {"args": ["run", *keeps[number % 2], *line], "stdin": INPUT.get(name, ""), "cwd": str(folder)}
        for number, (name, line) in enumerate(lines.items())
    ]
    return {name: (plain[name], ours) for name, ours in zip(lines, launch_all(cases), strict=True)}


def python(folder: Path, line: list[str], given: str) -> Done:
    done = subprocess.run(
        [sys.executable, *line], cwd=folder, input=given, capture_output=True, text=True, env=environment()
    )
    return Done(done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize("name", [*SCRIPTS, "module", "package"])
def test_a_script_prints_and_ends_as_under_python(both: dict[str, tuple[Done, Done]], name: str) -> None:
    plain, ours = both[name]
    err = "".join(line for line in plain.err.splitlines(keepends=True) if "frozen runpy" not in line)
    assert (ours.out, ours.code, ours.err) == (plain.out, plain.code, err)
