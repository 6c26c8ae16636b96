"""Whether weights that peer_torch trains are those of a checkpoint that train_cnn wrote.

  mpiexec -n RANKS peer_weights.py BUILD STEPS MODEL=CHECKPOINT=TOLERANCE... [-- options of a workload]

Every rank trains each model for STEPS steps with each strategy that sums. What training has changed is
compared: the distance of both changes over the length of the checkpoint's, in norm over all tensors,
is at most TOLERANCE. Rank 0 prints it, with a digest of every rank's weights: replicas are equal.
"""
import json
import os
import struct
import sys


def read_checkpoint(path):
    """Its tensors by name, flat."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        begin = file.tell()
        tensors = {}
        for name, about in header.items():
            if about.get("dtype") == "F32":
                first, last = about["data_offsets"]
                file.seek(begin + first)
                values = bytearray(file.read(last - first))
                tensors[name] = torch.frombuffer(values, dtype=torch.float32)
    return tensors


def flat(tensors):
    return torch.cat([tensor.flatten() for tensor in tensors]).double()


def distance(given, trainer, checkpoint):
    begin = torch.frombuffer(given.arrays["params"], dtype=torch.float32).double()
    theirs = flat(parameter.detach().contiguous() for parameter in trainer.parameters.master) - begin
    ours = flat(checkpoint[tensor["name"]] for tensor in given.model["tensors"]) - begin
    return float((theirs - ours).norm() / ours.norm())


def train(given, ranks, strategy, steps):
    given.about["options"]["sync.strategy"] = strategy
    trainer = Trainer(given, torch.contiguous_format, sums.of_run(given, ranks))
    for step in range(steps):
        trainer.step(step)
    return trainer


def compare(given, ranks, steps, path, tolerance):
    checkpoint, good = read_checkpoint(path), True
    lacks = ["bucketed"] if given.option("train.precision") == "bf16" else []
    for strategy in [name for name, made in sums.STRATEGIES.items() if made and name not in lacks]:
        trainer = train(given, ranks, strategy, steps)
        equal, where = ranks.compare([(steps, trainer.hash())])
        off = distance(given, trainer, checkpoint)
        good = good and equal and off <= tolerance
        if ranks.rank == 0:
            print(f"{given.model['name']} {strategy} on {ranks.n} ranks: off by {off:.2e}, at most "
                  f"{tolerance:.0e}; {'replicas are equal' if equal else 'they differ: ' + where}",
                  flush=True)
    return good


def main():
    cut = sys.argv.index("--")
    ranks, good = None, True
    for word in sys.argv[3:cut]:
        model, path, tolerance = word.split("=")
        given = Inputs(rank, n, ["--model", model, *sys.argv[cut + 1:]])
        ranks = ranks or Ranks(rank, n, given.about, launcher)
        good = compare(given, ranks, int(sys.argv[2]), path, float(tolerance)) and good
    ranks.part()
    sys.stdout.flush()
    os._exit(0 if good else 1)


build = sys.argv[1]
sys.path.insert(0, build)
sys.argv[0] = os.path.join(build, "peer_torch")  # beside which peer_inputs lies
from torch_peer.launcher import Launcher

rank, n = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
launcher = Launcher(rank, n) if n > 1 else None

import torch

from torch_peer import sums
from torch_peer.inputs import Inputs
from torch_peer.ranks import Ranks
from torch_peer.trainer import Trainer

torch.set_num_threads(1)
main()
