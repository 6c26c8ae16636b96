"""Messages of gloo's calls, by its algorithms (gloo/allreduce.cc, gather.cc and scatter.cc). Headers are
not counted, as in the trainer."""
from collections import Counter
from functools import lru_cache

FIELDS = ("calls", "bytes_payload", "bytes_wire", "messages_wire")  # fields of a record
SEGMENT = 1 << 20  # most bytes in a message of an allreduce
NUMBER = 4  # bytes of a float32


def rounded_up(n, to):
    return -(-n // to) * to


def ring(rank, ranks, size):
    """Returns one rank's messages in a ring allreduce of `size` bytes. There is one chunk per rank, of at
    least two segments. Every chunk goes around the ring twice, for summing and for distribution, without
    the last step back. Empty segments are not sent."""
    n = rounded_up(max(-(-size // SEGMENT), 2 * ranks), ranks)
    segment = rounded_up(-(-size // n), NUMBER)
    lengths = [max(0, min(segment, size - i * segment)) for i in range(n)]
    sent = Counter(calls=1, bytes_payload=size)
    for kept in rank, (rank - 1) % ranks:  # chunk not sent in summing, in distribution
        for i, length in enumerate(lengths):
            if length and i // (n // ranks) != kept:
                sent.update(bytes_wire=length, messages_wire=1)
    return sent


def through_root(rank, ranks, size):
    """Returns one rank's messages in a gather at rank 0 and a scatter from it, of `size` bytes per rank."""
    n = ranks - 1 if rank == 0 else 1
    return Counter(calls=2, bytes_payload=2 * size, bytes_wire=n * size, messages_wire=n)


@lru_cache(maxsize=None)
def of_step(of_call, rank, ranks, sizes):
    """Returns calls, bytes and messages of one rank in a step with one call of each size."""
    return sum((of_call(rank, ranks, size) for size in sizes), Counter())
