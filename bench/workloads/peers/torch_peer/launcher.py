"""Connection to the launcher, by which ranks exchange words before they are connected. If a rank ends
without notice, the launcher ends all. The protocol is that of MPI libraries, lines of words (PMI-1:
Balaji et al., "PMI: a scalable parallel process-management interface", EuroMPI 2010), which Hydra and
Slurm's plugin pmi2 understand."""
import contextlib
import fcntl
import os
import stat
import sys
import termios
import time

from torch_peer.failure import FAILED, UNAVAILABLE, Failure

CONNECTION = "PMI_FD"  # variable with the file descriptor of the connection


def announce(folder, rank):
    """Creates an empty record, which shows the runner that this rank has started."""
    if folder:
        with contextlib.suppress(OSError):  # writing the record reports the error later
            open(os.path.join(folder, f"rank.{rank}.jsonl"), "a", encoding="utf-8").close()


def withdraw(folder, rank):
    """Removes the record if it is still empty, so that a rejected run leaves no file."""
    path = os.path.join(folder, f"rank.{rank}.jsonl")
    with contextlib.suppress(OSError):
        if folder and os.path.getsize(path) == 0:
            os.remove(path)


class Launcher:
    """Connection to the launcher. Open it early: from then on, a rank that ends without `leave` counts as
    crashed, and the launcher kills the other ranks."""

    def __init__(self, rank, ranks):
        self.rank, self.ranks = rank, ranks
        if CONNECTION not in os.environ:
            raise Failure(UNAVAILABLE, f"{ranks} ranks cannot connect: {CONNECTION} is not set. Use "
                                       "MPICH's mpiexec or srun --mpi=pmi2")
        self.connection = int(os.environ[CONNECTION])
        self.ask("init", pmi_version=1, pmi_subversion=1)
        self.space = self.ask("get_my_kvsname")["kvsname"]

    def ask(self, command, **words):
        """Sends a command and returns the words of the answer."""
        line = " ".join([f"cmd={command}", *(f"{name}={value}" for name, value in words.items())])
        try:
            os.write(self.connection, (line + "\n").encode())
            answer = self.read_line()
        except OSError as error:
            raise Failure(FAILED, f"lost the connection to the launcher: {error.strerror}") from error
        reply = dict(word.split("=", 1) for word in answer.split() if "=" in word)
        if "cmd" not in reply or reply.get("rc", "0") != "0":
            raise Failure(FAILED, f"the launcher answers '{answer}' to '{line}'")
        return reply

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
        """Returns the words of all ranks in order. A word has no blanks and fewer than 1,000 letters."""
        self.ask("put", kvsname=self.space, key=f"peer-{what}-{self.rank}", value=word)
        self.barrier()
        return [self.ask("get", kvsname=self.space, key=f"peer-{what}-{rank}")["value"]
                for rank in range(self.ranks)]

    def leave(self):
        self.ask("finalize")


def unread(descriptor):
    """Returns the number of unread bytes in a pipe; None if it is not a pipe."""
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return None
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


def await_reading():
    """Waits until the launcher has read this rank's output, as launcher_await_reading in C."""
    since = time.monotonic()
    try:
        while time.monotonic() < since + 10:
            left = [unread(descriptor) for descriptor in (1, 2)]
            if not any(left) and (None not in left or time.monotonic() >= since + 0.2):
                return
            time.sleep(0.002)
    except OSError:
        pass  # output is closed


def end_launch(status):
    """Asks the launcher to end all ranks, since a failed rank leaves the others waiting."""
    if CONNECTION in os.environ and int(os.environ.get("PMI_SIZE", 1)) > 1:
        try:
            await_reading()
            os.write(int(os.environ[CONNECTION]), f"cmd=abort exitcode={status}\n".encode())
        except OSError:
            pass  # the launcher is gone
