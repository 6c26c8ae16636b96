"""What ranks do together, through gloo."""
import os
import tempfile

import torch
from torch import distributed

from torch_peer.failure import UNAVAILABLE, Failure


class Ranks:
    """This rank and the others. They meet at a file, in the folder of the records if there is one."""

    def __init__(self, rank, n, folder):
        self.rank, self.n = rank, n
        if n == 1:
            return
        if not distributed.is_available() or not hasattr(distributed, "ProcessGroupGloo"):
            raise Failure(UNAVAILABLE, "this PyTorch has no gloo, which several ranks need")
        # Ranks of one launch are children of one process manager.
        meeting = os.path.join(folder or tempfile.gettempdir(), f"peer_torch.{os.getppid()}")
        distributed.init_process_group("gloo", store=distributed.FileStore(meeting, n), rank=rank,
                                       world_size=n)

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
        """Ends gloo's threads. Those that still run when Python takes its memory down with it end the
        process with `terminate called without an active exception` now and then."""
        if self.n > 1:
            distributed.destroy_process_group()
