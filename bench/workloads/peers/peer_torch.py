#!/usr/bin/env python3
"""peer_torch: trains the networks of configs/models in PyTorch, as a baseline for train_cnn.

It takes train_cnn's options and writes its records. Network, bytes of images, batches, learning
rates and initial weights come from peer_inputs, so both programs do the same steps. A step:

  load       gathers the batch from the images in memory and computes (byte/255 - mean)/std, without
             a DataLoader, whose workers would use a core
  forward    eager nn.Sequential, ReLU in place; cross-entropy
  backward   autograd; gradients are released before it, not zeroed
  optimizer  torch.optim with foreach

torch.set_num_threads is set to place.threads_per_rank, and denormals are flushed. ATen may use the
processor's widest vectors; its default is AVX2. Images are stored contiguous or channels_last, whichever
is faster in trial steps before training. With train.precision bf16 the network and its images are bfloat16
except batch norm, and the optimizer updates fp32 weights; autocast is not used. Hits and losses are counted outside the timed step.

Several ranks connect through gloo, over TCP also on one host. sync.strategy sums gradients:

  allreduce        one all_reduce of a flat buffer of all gradients, after backward
  allreduce_layer  one all_reduce per tensor
  gather_scatter   tensor by tensor, gather at rank 0 and scatter from there
  bucketed         DistributedDataParallel: sync.cap_mib is its bucket_cap_mb, sync.first_cap_mib is
                   torch.distributed._DEFAULT_FIRST_BUCKET_BYTES
"""
import os
import sys
import traceback

from torch_peer import cores  # first: it reads processor times on import
from torch_peer import blas, inputs, launcher, layers, python
from torch_peer.failure import FAILED, USAGE, Failure


def checks_of(arguments):
    """Returns the arguments --check or --check=RANKS, which only check a launch."""
    return [word for word in arguments if word == "--check" or word.startswith("--check=")]


def ranks_of(check):
    ranks = check.partition("=")[2] or "1"
    if not ranks.isdecimal() or int(ranks) < 1:
        raise Failure(USAGE, f"{check}: expected a number of ranks of 1 or more")
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
    # Before anything else: a rank that ends before this leaves the others waiting.
    meeting = launcher.Launcher(rank, ranks) if ranks > 1 and not checks else None
    python.set_environment(python.last_option("place.threads_per_rank", "1"))
    given = inputs.Inputs(rank, ranks, arguments)
    layers.check_support(given)
    if checks:
        layers.check_processor(given)
        python.check_ranks(planned)
        print(python.describe())
        return
    blas.take_kernel_set(given.about)
    from torch_peer.ranks import named_losses  # needs the environment, takes a second
    from torch_peer.run import Run
    with named_losses(rank):
        Run(given, rank, ranks, meeting).run()


def leave(status):
    """Exits without Python's cleanup, which would free objects that gloo threads still use."""
    try:
        sys.stdout.flush()
    except (OSError, AttributeError):  # AttributeError: closed before Python started
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
        # The caller of --check reads errors from standard output too.
        out = sys.stdout if checks_of(sys.argv) else sys.stderr
        if failure.text:
            print(f"peer_torch: {failure.text}", file=out)
        leave(failure.status)
    except Exception:  # such as no memory: end the launch, since other ranks wait
        traceback.print_exc()
        leave(FAILED)
    leave(0)


if __name__ == "__main__":
    main()
