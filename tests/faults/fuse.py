"""A file system with faults, mounted for real: it passes everything on to a folder, through the kernel's FUSE.

    python -m tests.faults.fuse BACKING MOUNTPOINT CONTROL [--type fuse.network] [--cache-s 2] [--object-store]
                                                           [--no-flush]

Files in CONTROL switch faults on while it runs: `write`, `create`, `mkdir`, `fsync`, `flush` or `rename` with the name
of an errno fail these calls; `quota` with a number of bytes makes a write beyond it short, then EDQUOT. To hang it,
write a line to its input: it stops itself between two calls. (Stopped from outside it may have taken a call, and the
kernel lets no process go whose call was taken and not answered.) With STOP in place of an errno it stops at such a
call, once. Every call that reaches it waits until it goes on (SIGCONT). `--cache-s` lets the kernel remember
attributes, names and absent names, as an NFS client does. `--object-store` refuses renames and appending, as mounted
buckets do. With `--no-flush` it is not asked when a file is closed: otherwise a process with an open file cannot even
be killed while it hangs, which NFS allows. Needs root and /dev/fuse; speaks the kernel's protocol itself, so nothing
has to be installed.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

IN, OUT = struct.Struct("<IIQQIIIHH"), struct.Struct("<IiQ")
ATTR = struct.Struct("<6Q10I")
MAX_WRITE = 128 << 10
ROOT = 1
MS_NOSUID, MS_NODEV = 2, 4
NO_REPLY = object()


class Fault(OSError):
    def __init__(self, code: int) -> None:
        super().__init__(code, os.strerror(code))


class FileSystem:
    """Answers the kernel's requests with what `backing` has, or with a fault."""

    def __init__(
        self, backing: Path, control: Path, cache_s: float = 0.0, object_store: bool = False, no_flush: bool = False
    ) -> None:
        self.control, self.cache_s, self.object_store, self.no_flush = control, cache_s, object_store, no_flush
        self.paths = {ROOT: str(backing)}
        self.numbers = {str(backing): ROOT}
        self.open_files: dict[int, int] = {}
        self.listings: dict[int, list[tuple[str, int, int]]] = {}
        self.last = 1

    # -- faults ---------------------------------------------------------------------------------------------------

    def check(self, call: str) -> None:
        """Fail as the control folder says."""
        try:
            name = (self.control / call).read_text().strip()
        except FileNotFoundError:
            return
        if name == "STOP":  # once: going on is for good
            (self.control / call).unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        raise Fault(getattr(errno, name))

    def room(self, size: int) -> int:
        """How many bytes of a write the quota takes."""
        try:
            quota = int((self.control / "quota").read_text())
        except FileNotFoundError:
            return size
        used = sum(
            os.lstat(os.path.join(top, name)).st_size for top, _, names in os.walk(self.paths[ROOT]) for name in names
        )
        if used >= quota:
            raise Fault(errno.EDQUOT)
        return min(size, quota - used)

    # -- names and attributes -----------------------------------------------------------------------------------

    def number_of(self, path: str) -> int:
        if path not in self.numbers:
            self.last += 1
            self.numbers[path] = self.last
            self.paths[self.last] = path
        return self.numbers[path]

    def child(self, node: int, name: bytes) -> str:
        return os.path.join(self.paths[node], os.fsdecode(name.rstrip(b"\0")))

    def attributes(self, path: str | int) -> bytes:
        about = os.fstat(path) if isinstance(path, int) else os.lstat(path)
        times = (about.st_atime_ns, about.st_mtime_ns, about.st_ctime_ns)
        return ATTR.pack(
            about.st_ino, about.st_size, about.st_blocks, *(one // 10**9 for one in times),
            *(one % 10**9 for one in times), about.st_mode, about.st_nlink, about.st_uid, about.st_gid, about.st_rdev,
            4096, 0,
        )  # fmt: skip

    def _valid(self) -> tuple[int, int]:
        return int(self.cache_s), int(self.cache_s % 1 * 10**9)

    def entry(self, path: str) -> bytes:
        seconds, rest = self._valid()
        return struct.pack("<QQQQII", self.number_of(path), 0, seconds, seconds, rest, rest) + self.attributes(path)

    def lookup(self, node: int, data: bytes) -> bytes:
        path = self.child(node, data)
        try:
            return self.entry(path)
        except FileNotFoundError:
            if not self.cache_s:
                raise
            seconds, rest = self._valid()  # number 0: the name is absent, and that may be remembered
            return struct.pack("<QQQQII", 0, 0, seconds, seconds, rest, rest) + bytes(ATTR.size)

    def getattr(self, node: int, data: bytes) -> bytes:
        seconds, rest = self._valid()
        flags, _, handle = struct.unpack_from("<IIQ", data)
        path = self.open_files[handle] if flags & 1 and handle in self.open_files else self.paths[node]
        return struct.pack("<QII", seconds, rest, 0) + self.attributes(path)

    def setattr(self, node: int, data: bytes) -> bytes:
        valid, _, _, size = struct.unpack_from("<IIQQ", data)
        mode = struct.unpack_from("<I", data, 68)[0]
        if valid & 1:
            os.chmod(self.paths[node], stat.S_IMODE(mode))
        if valid & 8:
            os.truncate(self.paths[node], size)
        if valid & 48:
            atime, mtime = struct.unpack_from("<QQ", data, 32)
            os.utime(self.paths[node], None if valid & 384 else (atime, mtime))
        return self.getattr(node, bytes(16))

    # -- folders --------------------------------------------------------------------------------------------------

    def mkdir(self, node: int, data: bytes) -> bytes:
        self.check("mkdir")
        path = self.child(node, data[8:])
        os.mkdir(path, stat.S_IMODE(struct.unpack_from("<I", data)[0]))
        return self.entry(path)

    def unlink(self, node: int, data: bytes) -> bytes:
        os.unlink(self._forgotten(self.child(node, data)))
        return b""

    def rmdir(self, node: int, data: bytes) -> bytes:
        os.rmdir(self._forgotten(self.child(node, data)))
        return b""

    def _forgotten(self, path: str) -> str:
        """A later file of this name is another one."""
        self.numbers.pop(path, None)
        return path

    def rename(self, node: int, data: bytes, header: int = 8) -> bytes:
        self.check("rename")
        if self.object_store:
            raise Fault(errno.ENOSYS)
        old, new, *_ = data[header:].split(b"\0")
        source, target = self.child(node, old), self.child(struct.unpack_from("<Q", data)[0], new)
        os.rename(source, target)
        self.numbers.pop(target, None)
        for path in [path for path in self.numbers if path == source or path.startswith(source + "/")]:
            number = self.numbers.pop(path)
            self.paths[number] = target + path[len(source) :]
            self.numbers[self.paths[number]] = number
        return b""

    def rename2(self, node: int, data: bytes) -> bytes:
        return self.rename(node, data, header=16)

    def opendir(self, node: int, data: bytes) -> bytes:
        self.last += 1
        with os.scandir(self.paths[node]) as entries:
            self.listings[self.last] = [(one.name, one.inode(), 4 if one.is_dir() else 8) for one in entries]
        return struct.pack("<QII", self.last, 0, 0)

    def readdir(self, node: int, data: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", data)
        out = b""
        for at, (name, inode, kind) in list(enumerate(self.listings[handle], 1))[offset:]:
            raw = os.fsencode(name)
            one = struct.pack("<QQII", inode, at, len(raw), kind) + raw + bytes(-len(raw) % 8)
            if len(out) + len(one) > size:
                break
            out += one
        return out

    def releasedir(self, node: int, data: bytes) -> bytes:
        self.listings.pop(struct.unpack_from("<Q", data)[0], None)
        return b""

    # -- files ----------------------------------------------------------------------------------------------------

    def open(self, node: int, data: bytes) -> bytes:
        flags = struct.unpack_from("<I", data)[0]
        if self.object_store and flags & os.O_ACCMODE != os.O_RDONLY:
            raise Fault(errno.EINVAL)
        return self._opened(self.paths[node], flags & (os.O_ACCMODE | os.O_TRUNC))

    def _opened(self, path: str, flags: int, mode: int = 0o600) -> bytes:
        fd = os.open(path, flags, mode)
        self.open_files[fd] = fd
        return struct.pack("<QII", fd, 0, 0)

    def create(self, node: int, data: bytes) -> bytes:
        self.check("create")
        flags, mode = struct.unpack_from("<II", data)
        if self.object_store and flags & (os.O_APPEND | os.O_RDWR):
            raise Fault(errno.EINVAL)
        path = self.child(node, data[16:])
        opened = self._opened(path, flags & (os.O_ACCMODE | os.O_TRUNC | os.O_EXCL) | os.O_CREAT, stat.S_IMODE(mode))
        return self.entry(path) + opened

    def read(self, node: int, data: bytes) -> bytes:
        handle, offset, size = struct.unpack_from("<QQI", data)
        return os.pread(handle, size, offset)

    def write(self, node: int, data: bytes) -> bytes:
        self.check("write")
        handle, offset, size = struct.unpack_from("<QQI", data)
        done = os.pwrite(handle, data[40 : 40 + self.room(size)], offset)
        return struct.pack("<II", done, 0)

    def flush(self, node: int, data: bytes) -> bytes:
        self.check("flush")
        if self.no_flush:
            raise Fault(errno.ENOSYS)  # the kernel remembers that, and asks no more
        return b""

    def fsync(self, node: int, data: bytes) -> bytes:
        self.check("fsync")
        return b""

    def release(self, node: int, data: bytes) -> bytes:
        handle = struct.unpack_from("<Q", data)[0]
        if self.open_files.pop(handle, None) is not None:
            os.close(handle)
        return b""

    def statfs(self, node: int, data: bytes) -> bytes:
        about = os.statvfs(self.paths[ROOT])
        counts = (about.f_blocks, about.f_bfree, about.f_bavail, about.f_files, about.f_ffree)
        return struct.pack("<5Q4I", *counts, about.f_bsize, 255, about.f_frsize, 0) + bytes(24)

    def init(self, node: int, data: bytes) -> bytes:
        readahead = struct.unpack_from("<III", data)[2]
        return struct.pack("<IIIIHHIIHHI", 7, 31, readahead, 0, 12, 10, MAX_WRITE, 1, 0, 0, 0) + bytes(28)

    def nothing(self, node: int, data: bytes) -> bytes:
        return b""

    def no_reply(self, node: int, data: bytes) -> object:
        return NO_REPLY

    def answers(self) -> dict[int, Callable[[int, bytes], object]]:
        """What answers each kind of request, by the kernel's numbers."""
        return {
            1: self.lookup, 2: self.no_reply, 3: self.getattr, 4: self.setattr, 9: self.mkdir, 10: self.unlink,
            11: self.rmdir, 12: self.rename, 14: self.open, 15: self.read, 16: self.write, 17: self.statfs,
            18: self.release, 20: self.fsync, 25: self.flush, 26: self.init, 27: self.opendir, 28: self.readdir,
            29: self.releasedir, 30: self.nothing, 34: self.nothing, 35: self.create, 36: self.no_reply,
            38: self.nothing, 42: self.no_reply, 45: self.rename2,
        }  # fmt: skip


def mount(fd: int, point: Path, kind: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"stepscope-test", os.fsencode(point), kind.encode(), MS_NOSUID | MS_NODEV, options.encode()):
        code = ctypes.get_errno()
        raise OSError(code, f"mounting {kind} on {point}: {os.strerror(code)}")


def serve(fd: int, system: FileSystem) -> None:
    answers = system.answers()
    while True:
        asked, _, _ = select.select([fd, sys.stdin.fileno()], [], [])
        if sys.stdin.fileno() in asked:
            if not os.read(sys.stdin.fileno(), 1):  # whoever mounted it is gone
                return
            os.kill(os.getpid(), signal.SIGSTOP)
            continue
        try:
            request = os.read(fd, MAX_WRITE + 4096)
        except OSError as fault:
            if fault.errno == errno.ENODEV:  # unmounted
                return
            if fault.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                continue
            raise
        _, opcode, unique, node, *_ = IN.unpack_from(request)
        code, reply = 0, b""
        try:
            answer = answers[opcode](node, request[IN.size :]) if opcode in answers else None
            if answer is NO_REPLY:
                continue
            if not isinstance(answer, bytes):
                raise Fault(errno.ENOSYS)
            reply = answer
        except OSError as fault:
            code = -(fault.errno or errno.EIO)
        try:
            os.write(fd, OUT.pack(OUT.size + len(reply), code, unique) + reply)
        except OSError as fault:
            if fault.errno != errno.ENOENT:  # whoever asked was interrupted
                raise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("backing", "mountpoint", "control"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--type", default="fuse.network")
    parser.add_argument("--cache-s", type=float, default=0.0)
    parser.add_argument("--object-store", action="store_true")
    parser.add_argument("--no-flush", action="store_true")
    options = parser.parse_args()
    fd = os.open("/dev/fuse", os.O_RDWR)
    mount(fd, options.mountpoint, options.type)
    print("mounted", flush=True)
    serve(fd, FileSystem(options.backing, options.control, options.cache_s, options.object_store, options.no_flush))


if __name__ == "__main__":
    try:
        main()
    except OSError as fault:
        sys.exit(f"{fault}")
