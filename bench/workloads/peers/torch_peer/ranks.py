"""What ranks do together, through gloo."""
import contextlib
import os
from datetime import timedelta

import torch
from torch import distributed

from torch_peer import cores, network
from torch_peer.failure import FAILED, UNAVAILABLE, Failure
from torch_peer.python import NO_GLOO


def first_line(error):
    return str(error).strip().split("\n")[0]


def clock_id():
    """Hosts of one machine have one monotonic clock, unless they were given a namespace for it."""
    namespace = "/proc/self/ns/time"
    return f"{cores.machine()}/{os.readlink(namespace) if os.path.exists(namespace) else ''}"


@contextlib.contextmanager
def named_losses(rank):
    """What gloo says of a rank that is gone or late becomes an error of this program."""
    try:
        yield
    except RuntimeError as error:
        if "gloo" not in str(error):
            raise
        raise Failure(FAILED, f"rank {rank} has lost another rank, or waited for it for longer than "
                              f"sync.deadline: {first_line(error)}") from error


class Ranks:
    """This rank and the others, which meet where rank 0 listens: the launcher, None of a single rank,
    tells them where."""

    def __init__(self, rank, n, about, launcher):
        self.rank, self.n, self.launcher, self.has_first_clock = rank, n, launcher, True
        if n == 1:
            return
        if not distributed.is_available() or not hasattr(distributed, "ProcessGroupGloo"):
            raise Failure(UNAVAILABLE, NO_GLOO)
        hosts = self.launcher.exchange("host", os.uname().nodename)
        clocks = self.launcher.exchange("clock", clock_id())
        self.has_first_clock = clocks[rank] == clocks[0]
        interface = network.choose(hosts, about["nic"])
        os.environ["GLOO_SOCKET_IFNAME"] = interface
        self.timeout = timedelta(seconds=about["deadline_s"])
        self.store = self.meet(interface)
        self.join(interface)

    def meet(self, interface):
        """A store of words that rank 0 keeps for all."""
        host, port, store = network.address_of(interface), 0, None
        if self.rank == 0:
            store = self.open_store(interface, host, port)
            port = store.port
        host, port = self.launcher.exchange("store", f"{host}:{port}")[0].rsplit(":", 1)
        return self.open_store(interface, host, int(port)) if store is None else store

    def open_store(self, interface, host, port):
        """Rank 0 listens, at any port for 0, the others connect."""
        try:
            return distributed.TCPStore(host, port, self.n, self.rank == 0, self.timeout,
                                        wait_for_workers=False)
        except (RuntimeError, TimeoutError) as error:
            whom = f"{host}:{port}" if port else f"a free port of {host}"
            raise self.not_joined(interface, whom, error) from error

    def join(self, interface):
        try:
            distributed.init_process_group("gloo", store=self.store, rank=self.rank,
                                           world_size=self.n, timeout=self.timeout)
        except (RuntimeError, TimeoutError) as error:
            raise self.not_joined(interface, "the others", error) from error

    def not_joined(self, interface, whom, error):
        return Failure(FAILED, f"rank {self.rank} on {os.uname().nodename} does not reach {whom} "
                               f"through {interface}; GLOO_SOCKET_IFNAME names another: "
                               f"{first_line(error)}")

    def add_up(self, numbers):
        """The sums of lists of numbers over ranks."""
        if self.n == 1:
            return numbers
        values = torch.tensor(numbers, dtype=torch.float64)
        distributed.all_reduce(values)
        return values.tolist()

    def first_says(self, value):
        """The value of rank 0."""
        box = [value]
        if self.n > 1:
            distributed.broadcast_object_list(box)
        return box[0]

    def wait_for_all(self):
        if self.n > 1:
            distributed.barrier()

    def take_first(self, tensors):
        """Gives all ranks what rank 0 has in these tensors."""
        for tensor in tensors if self.n > 1 else ():
            distributed.broadcast(tensor, 0)

    def compare(self, hashes):
        """Whether all ranks have the same list of (step, hash), and where they first differ."""
        everyone = [hashes]
        if self.n > 1:
            everyone = [None] * self.n
            distributed.all_gather_object(everyone, hashes)
        for row in zip(*everyone):
            for rank, (step, value) in enumerate(row):
                if value != row[0][1]:
                    return False, f"step {step}, rank {rank}"
        return True, ""

    def part(self):
        """All ranks are through, and the launcher hears that this one may end. gloo's threads still
        run: they end with the process, before Python takes apart what they use."""
        if self.n > 1:
            self.launcher.barrier()
            self.launcher.leave()
