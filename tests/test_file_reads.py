"""Every file is opened in one room: `stepscope.files` refuses pipes, devices, links out of a folder, and bombs."""

from __future__ import annotations

from pathlib import Path

from tests.reading import Read, reads_of

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "stepscope"

# file -> the calls it may make, and why these need no room of their own
MAY_READ: dict[str, dict[str, str]] = {
    "cli/_demo_forks.py": {"os.open": "the empty device, as the standard input of a fork"},
    "common/own_time.py": {"open": "what the kernel says of this process, under /proc"},
    "launch/flight_recorder.py": {"pickle.loads": "the dump that torch has just made in this process"},
    "launch/open_files.py": {"open": "what the kernel says of this process, under /proc"},
    "database/engine.py": {"os.open": "the server's own database file, made with its mode"},
    "diagnose/catalogue.py": {".read_text": "the source of our own rules, from our own package"},
    "diagnose/edits/apply.py": {".read_bytes": "the user's own script, whose hash was checked just before"},
    "launch/dry_run_files.py": {"shutil.copy2": "a file the script is about to write to; isfile is checked"},
    "launch/fixing/fix.py": {"open": "the script's own source, which was read and hashed before"},
    "launch/fixing/version.py": {".read_text": "what a run that we started has printed to a file we made"},
    "launch/fixing/workspace.py": {"shutil.copy2": "plain files beside the script, after entry.is_file()"},
    "profile/collect/calibration.py": {".read_text": "what the kernel says of the processor, under /proc"},
    "diagnose/rule.py": {"open": "the source of a rule that Python has imported already"},
    "profile/batch/memory.py": {".read_text": "what the kernel says of this process, under /proc and /sys"},
    "events/fork_seal.py": {"os.open": "the empty device, in place of what is open in a copy of the process"},
    "events/presence.py": {".read_bytes": "the source of a module that Python is about to import"},
    "importers/lock.py": {"os.open": "a lock that is made and never read"},
    "importers/tensorboard/projector.py": {"np.loadtxt": "lines that files.opening has read"},
    "inspect/checkpoint.py": {"torch.load": "after files.packed.check_zip, with weights_only"},
    "integrations/_tensorboard_run.py": {".read_text": "a note of ours in the folder that the script writes to"},
    "integrations/ray.py": {".read_text": "the error file that Ray Tune names"},
    "launch/rank_command.py": {
        "open": "a note in a folder that only this user can write to, which is checked",
        "pickle.load": "the same note",
    },
    "launch/capsule/sources.py": {".read_bytes": "the script's own files, which Python has imported"},
    "launch/trackers/mlflow.py": {".open": "a file that the script itself logs"},
    "launch/settings/constants.py": {"io.open": "the script and its own modules"},
    "launch/deep_windows.py": {
        "open": "the trace that the script's own profiler has just written",
        "shutil.copyfile": "the same trace",
    },
    "launch/tracking.py": {".read_bytes": "the script itself"},
    "launch/vscode.py": {".read_bytes": "the editor's settings in the user's project"},
    "profile/collect/child.py": {"open": "the trace that torch has just written for us"},
    "profile/collect/facts_process.py": {".read_text": "a file of the kernel"},
    "profile/collect/torch_window.py": {
        "open": "the trace that torch has just written for us",
        "mmap.mmap": "the same trace, changed in place",
    },
    "profile/trace/packed.py": {"zlib.decompressobj": "blocks with a checksum, unpacked to their stated size"},
    "profile/trace/source.py": {"zlib.decompressobj": "unpacked piece by piece, with a limit on size and ratio"},
    "record/observers/ranks.py": {"os.open": "a new file of facts, only written to"},
    "report/shares.py": {"os.open": "a line is added, links refused"},
    "runs/catalogue/index.py": {
        "os.open": "the index in the user's own cache, made with its mode",
        "sqlite3.connect": "the same index; a damaged one is replaced",
    },
    "runs/format/chunks.py": {"zlib.decompressobj": "a frame with a checksum, unpacked to its stated count"},
    "runs/format/filesystem.py": {
        ".read_text": "a file of the kernel",
        "os.open": "files that we make, and folders that we sync",
    },
    "runs/format/writer_identity.py": {".read_text": "files of the kernel"},
    "runs/scrub/content.py": {"zlib.decompressobj": "unpacked to a limit; what is longer stays as it is"},
    "runs/write/write_queue.py": {"os.open": "files that we wrote, to sync them"},
    "sweep/file.py": {"yaml.load": "a sweep file that the user named, by a loader of plain values"},
    "sweep/journal.py": {"os.open": "the journal of this sweep, made and locked for writing"},
    "sweep/process.py": {".read_text": "a file of the kernel"},
    "sync/locks.py": {"os.open": "a lock that is made and never read"},
    "track/environment.py": {"open": "a file of the kernel", ".read_text": "files of the kernel"},
    "wandb/artifacts.py": {
        "open": "a new file that the script writes",
        "shutil.copyfile": "a file that the script itself adds or fetches",
    },
    "wandb/files.py": {"open": "a file that the script asks to be given"},
    "wandb/images.py": {"pillow.open": "a picture that the script itself logs"},
    "wandb/masks.py": {"pillow.open": "a picture that the script itself logs"},
}


def all_reads() -> dict[str, list[Read]]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("files/") and (reads := reads_of(path)):
            found[name] = reads
    return found


def test_every_file_is_opened_in_the_room_for_it() -> None:
    wrong = [
        f"src/stepscope/{name}:{read.line} {read.what}"
        for name, reads in all_reads().items()
        for read in reads
        if read.what not in MAY_READ.get(name, {})
    ]
    assert not wrong, "use stepscope.files.opening (or say in MAY_READ why not):\n" + "\n".join(wrong)


def test_every_exception_is_still_needed() -> None:
    found = all_reads()
    idle = [
        f"{name}: {what}"
        for name, allowed in MAY_READ.items()
        for what in allowed
        if what not in {read.what for read in found.get(name, [])}
    ]
    assert idle == []


SAMPLE = """
import os, gzip, mmap, zipfile, sqlite3, zlib, shutil
import numpy as np
def reads(path, file, archive, webbrowser, journal, desk):
    open(path); open(path, "rb"); path.open(); path.open("rb"); path.read_bytes(); (path / "a").read_text()
    os.open(path, os.O_RDONLY); gzip.open(path); mmap.mmap(3, 0); zipfile.ZipFile(path); sqlite3.connect(path)
    np.memmap(path); zlib.decompress(b""); shutil.copyfile(path, file); file.open("rb"); archive.extractall(path)
def does_not(path, archive, webbrowser, journal, desk):
    open(path, "w"); path.open("xb"); open(path, mode="ab"); os.open(path, os.O_WRONLY | os.O_CREAT)
    webbrowser.open(path); journal.open(); desk.open(id); zipfile.ZipFile(path, "w")
"""


def test_every_kind_of_read_is_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(SAMPLE)
    assert [read.line for read in reads_of(tmp_path / "one.py")] == [5] * 6 + [6] * 5 + [7] * 5
