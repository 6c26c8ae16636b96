"""Communication of ranks through gloo."""
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
    """Identifies the monotonic clock: hosts of a machine share it unless they have time namespaces."""
    namespace = "/proc/self/ns/time"
    return f"{cores.machine()}/{os.readlink(namespace) if os.path.exists(namespace) else ''}"


@contextlib.contextmanager
def named_losses(rank):
    """Turns gloo's errors about a lost or late rank into a Failure."""
    try:
        yield
    except RuntimeError as error:
        if "gloo" not in str(error):
            raise
        raise Failure(FAILED, f"rank {rank} has lost another rank or waited longer than "
                              f"sync.deadline: {first_line(error)}") from error


class Ranks:
    """This rank and its connections. Rank 0 listens; the launcher (None for a single rank) passes its address
    on."""

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
        self.store = self.connect_store(interface)
        self.join(interface)

    def connect_store(self, interface):
        """Returns a key-value store, which rank 0 holds for all ranks."""
        host, port, store = network.address_of(interface), 0, None
        if self.rank == 0:
            store = self.open_store(interface, host, port)
            port = store.port
        host, port = self.launcher.exchange("store", f"{host}:{port}")[0].rsplit(":", 1)
        return self.open_store(interface, host, int(port)) if store is None else store

    def open_store(self, interface, host, port):
        """Listens on rank 0, at any free port if port is 0; connects on other ranks."""
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
        return Failure(FAILED, f"rank {self.rank} on {os.uname().nodename} cannot connect to {whom} "
                               f"through {interface}. Set GLOO_SOCKET_IFNAME to another: "
                               f"{first_line(error)}")

    def add_up(self, numbers):
        """Returns the elementwise sums of `numbers` over ranks."""
        if self.n == 1:
            return numbers
        values = torch.tensor(numbers, dtype=torch.float64)
        distributed.all_reduce(values)
        return values.tolist()

    def first_says(self, value):
        """Returns the value of rank 0."""
        box = [value]
        if self.n > 1:
            distributed.broadcast_object_list(box)
        return box[0]

    def wait_for_all(self):
        if self.n > 1:
            distributed.barrier()

    def take_first(self, tensors):
        """Broadcasts these tensors from rank 0."""
        for tensor in tensors if self.n > 1 else ():
            distributed.broadcast(tensor, 0)

    def compare(self, hashes):
        """Returns whether all ranks have equal lists of (step, hash), and the first difference."""
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
        """Waits for all ranks and notifies the launcher that this one ends. gloo's threads keep running until the
        process exits."""
        if self.n > 1:
            self.launcher.barrier()
            self.launcher.leave()
