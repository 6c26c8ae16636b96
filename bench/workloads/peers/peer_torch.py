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
channels_last, whichever is faster in steps tried before training. Several ranks sum one flat buffer
of gradients through gloo after backward. Hits and losses are counted outside the timed step.
"""
import os
import sys

from torch_peer import inputs, layers, python
from torch_peer.failure import Failure


def act(arguments):
    rank, ranks = int(os.environ.get("PMI_RANK", 0)), int(os.environ.get("PMI_SIZE", 1))
    if {"--help", "-h", "--describe"} & set(arguments):
        command = inputs.command(rank, ranks, arguments)
        os.execv(command[0], command)
    python.choose()
    python.set_environment(python.last_option("place.threads_per_rank", "1"))
    given = inputs.Inputs(rank, ranks, arguments)
    layers.check_support(given)
    if "--check" in arguments:
        print(python.describe())
        return
    from torch_peer.run import Run  # needs the environment, and a second
    Run(given, rank, ranks).run()


def main():
    try:
        act(sys.argv[1:])
    except Failure as failure:
        # The answer to --check goes to standard output whatever it is.
        out = sys.stdout if "--check" in sys.argv else sys.stderr
        if failure.text:
            print(f"peer_torch: {failure.text}", file=out)
        sys.exit(failure.status)


if __name__ == "__main__":
    main()
