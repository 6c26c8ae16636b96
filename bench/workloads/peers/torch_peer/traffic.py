"""What calls of gloo send, by the algorithms that it has (gloo/allreduce.cc, gather.cc and scatter.cc).
Headers are not counted, as they are not of the trainer's own messages."""
from collections import Counter
from functools import lru_cache

FIELDS = ("calls", "bytes_payload", "bytes_wire", "messages_wire")  # of a record
SEGMENT = 1 << 20  # bytes of a message of an allreduce, at most
NUMBER = 4  # bytes of a float32


def rounded_up(n, to):
    return -(-n // to) * to


def ring(rank, ranks, size):
    """One rank's part of a sum of `size` bytes: they are cut into a chunk a rank, each of at least two
    segments. Every chunk goes around the ring once to be summed and once to be handed out, but for the
    step that would bring it back. Segments behind the end are not sent."""
    n = rounded_up(max(-(-size // SEGMENT), 2 * ranks), ranks)
    segment = rounded_up(-(-size // n), NUMBER)
    lengths = [max(0, min(segment, size - i * segment)) for i in range(n)]
    sent = Counter(calls=1, bytes_payload=size)
    for kept in rank, (rank - 1) % ranks:  # the chunk that is not sent on: while summing, handing out
        for i, length in enumerate(lengths):
            if length and i // (n // ranks) != kept:
                sent.update(bytes_wire=length, messages_wire=1)
    return sent


def through_root(rank, ranks, size):
    """A gather at rank 0 and a scatter from there, of `size` bytes a rank: a message with each."""
    n = ranks - 1 if rank == 0 else 1
    return Counter(calls=2, bytes_payload=2 * size, bytes_wire=n * size, messages_wire=n)


@lru_cache(maxsize=None)
def of_step(of_call, rank, ranks, sizes):
    """Calls, bytes and messages of one rank in a step that makes one such call of each of these sizes."""
    return sum((of_call(rank, ranks, size) for size in sizes), Counter())
