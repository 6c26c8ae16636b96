"""What a launcher does for ranks that have not met yet: it passes words on between them, and ends all
of them with one that ends before it has said so. It is spoken to as MPI libraries do, in lines of
words (PMI-1: Balaji et al., "PMI: a scalable parallel process-management interface", EuroMPI 2010),
which Hydra and Slurm's plugin pmi2 understand."""
import contextlib
import fcntl
import os
import stat
import sys
import termios
import time

from torch_peer.failure import FAILED, UNAVAILABLE, Failure

CONNECTION = "PMI_FD"  # where such a launcher says which file the connection is


def announce(folder, rank):
    """Leaves an empty record, by which the runner sees that this rank has started."""
    if folder:
        with contextlib.suppress(OSError):  # who writes the record later says why it cannot
            open(os.path.join(folder, f"rank.{rank}.jsonl"), "a", encoding="utf-8").close()


def withdraw(folder, rank):
    """Removes that record if it is still empty: a run that is refused leaves nothing."""
    path = os.path.join(folder, f"rank.{rank}.jsonl")
    with contextlib.suppress(OSError):
        if folder and os.path.getsize(path) == 0:
            os.remove(path)


class Launcher:
    """Opened as early as may be: from here on the launcher takes an end without `leave` for a crash, and kills the other ranks."""

    def __init__(self, rank, ranks):
        self.rank, self.ranks = rank, ranks
        if CONNECTION not in os.environ:
            raise Failure(UNAVAILABLE, f"{ranks} ranks do not find each other: {CONNECTION} is not "
                                       "set, so the launcher is neither MPICH's mpiexec nor srun "
                                       "--mpi=pmi2")
        self.connection = int(os.environ[CONNECTION])
        self.ask("init", pmi_version=1, pmi_subversion=1)
        self.space = self.ask("get_my_kvsname")["kvsname"]

    def ask(self, command, **words):
        """The words of the answer."""
        line = " ".join([f"cmd={command}", *(f"{name}={value}" for name, value in words.items())])
        try:
            os.write(self.connection, (line + "\n").encode())
            answer = self.read_line()
        except OSError as error:
            raise Failure(FAILED, f"the launcher is gone: {error.strerror}") from error
        told = dict(word.split("=", 1) for word in answer.split() if "=" in word)
        if "cmd" not in told or told.get("rc", "0") != "0":
            raise Failure(FAILED, f"the launcher answers '{answer}' to '{line}'")
        return told

    def read_line(self):
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.connection, 1)
            if not byte:
                raise Failure(FAILED, "the launcher has closed its connection")
            line += byte
        return line.decode().strip()

    def barrier(self):
        self.ask("barrier_in")

    def exchange(self, what, word):
        """Everybody's word, which has no blanks and fewer than 1,000 letters, in the order of ranks."""
        self.ask("put", kvsname=self.space, key=f"peer-{what}-{self.rank}", value=word)
        self.barrier()
        return [self.ask("get", kvsname=self.space, key=f"peer-{what}-{rank}")["value"]
                for rank in range(self.ranks)]

    def leave(self):
        self.ask("finalize")


def unread(descriptor):
    """Bytes that nobody has read of a pipe; None of anything else."""
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return None
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


def await_reading():
    """As launcher_await_reading of kernels/base/launcher.h."""
    since = time.monotonic()
    try:
        while time.monotonic() < since + 10:
            left = [unread(descriptor) for descriptor in (1, 2)]
            if not any(left) and (None not in left or time.monotonic() >= since + 0.2):
                return
            time.sleep(0.002)
    except OSError:
        pass  # it is closed, and nobody reads


def end_launch(status):
    """Has a launcher that hears it end all ranks, since one that fails leaves the others waiting."""
    if CONNECTION in os.environ and int(os.environ.get("PMI_SIZE", 1)) > 1:
        try:
            await_reading()
            os.write(int(os.environ[CONNECTION]), f"cmd=abort exitcode={status}\n".encode())
        except OSError:
            pass  # it is gone, and nobody waits
