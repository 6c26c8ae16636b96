#!/usr/bin/env python3
"""peer_torch: trains the networks of configs/models in PyTorch, as a baseline for train_cnn.

It takes train_cnn's options and writes its records. Network, bytes of images, batches, learning
rates and initial weights come from peer_inputs, so both programs do the same steps. What a step is:

  load       the batch is gathered from the bytes of all images, which are in memory, and becomes
             (byte/255 - mean)/std; no DataLoader, whose workers would take a core
  forward    eager nn.Sequential, ReLU in place; cross-entropy
  backward   autograd; gradients are released before it rather than zeroed
  optimizer  torch.optim with foreach

Threads are torch.set_num_threads(place.threads_per_rank); denormals are flushed; the processor's
widest vectors are allowed to ATen, which on its own stops at AVX2; images lie contiguous or
channels_last, whichever is faster in steps tried before training. Hits and losses are counted outside
the timed step.

Several ranks meet through gloo, over TCP also on one host, and sum gradients as sync.strategy says:

  allreduce        one all_reduce of a flat buffer of all of them, after backward
  allreduce_layer  one all_reduce a tensor
  gather_scatter   tensor by tensor, gather at rank 0 and scatter from there
  bucketed         DistributedDataParallel: sync.cap_mib is its bucket_cap_mb, sync.first_cap_mib what
                   it lets users set by torch.distributed._DEFAULT_FIRST_BUCKET_BYTES
"""
import os
import sys
import traceback

from torch_peer import cores  # first: it looks when it is imported
from torch_peer import blas, inputs, launcher, layers, python
from torch_peer.failure import FAILED, USAGE, Failure


def checks_of(arguments):
    """Whether a launch is only to be checked: --check, or --check=RANKS of so many."""
    return [word for word in arguments if word == "--check" or word.startswith("--check=")]


def ranks_of(check):
    ranks = check.partition("=")[2] or "1"
    if not ranks.isdecimal() or int(ranks) < 1:
        raise Failure(USAGE, f"{check}: a number of ranks is wanted, 1 or more")
    return int(ranks)


def own_rank():
    return int(os.environ.get("PMI_RANK", 0))


def act(arguments):
    rank, ranks = own_rank(), int(os.environ.get("PMI_SIZE", 1))
    if {"--help", "-h", "--describe"} & set(arguments):
        command = inputs.command(rank, ranks, arguments)
        os.execv(command[0], command)
    checks = checks_of(arguments)
    if not checks:
        launcher.announce(python.last_option("record", ""), rank)
    python.choose()
    planned = ranks_of(checks[-1]) if checks else ranks
    # First of all, since who ends before would leave the others waiting.
    meeting = launcher.Launcher(rank, ranks) if ranks > 1 and not checks else None
    python.set_environment(python.last_option("place.threads_per_rank", "1"))
    given = inputs.Inputs(rank, ranks, arguments)
    layers.check_support(given)
    if checks:
        python.check_ranks(planned)
        print(python.describe())
        return
    blas.take_kernel_set(given.about)
    from torch_peer.ranks import named_losses  # needs the environment, and a second
    from torch_peer.run import Run
    with named_losses(rank):
        Run(given, rank, ranks, meeting).run()


def leave(status):
    """Without Python's end, which takes apart what threads of gloo still use."""
    try:
        sys.stdout.flush()
    except (OSError, AttributeError):  # AttributeError: it was closed before Python began
        print("peer_torch: standard output cannot be written", file=sys.stderr)
        status = status or FAILED
    sys.stderr.flush()
    if status:
        launcher.withdraw(python.last_option("record", ""), own_rank())
        launcher.end_launch(status)
    os._exit(status)


def main():
    try:
        act(sys.argv[1:])
    except Failure as failure:
        # The answer to --check goes to standard output whatever it is.
        out = sys.stdout if checks_of(sys.argv) else sys.stderr
        if failure.text:
            print(f"peer_torch: {failure.text}", file=out)
        leave(failure.status)
    except Exception:  # such as memory or a disk that is full: the other ranks wait all the same
        traceback.print_exc()
        leave(FAILED)
    leave(0)


if __name__ == "__main__":
    main()
