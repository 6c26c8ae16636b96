"""Gradients of one training step in PyTorch, in float and in double, from weights and images that
test_gradients draws.

  pytorch_gradients.py record FOLDER NET...        kernels/net/tests/gradients.csv on standard output
  pytorch_gradients.py compare FOLDER PLAN NET...  with PyTorch as it is here
  pytorch_gradients.py seeds FOLDER NET N          how near a kink seeds 1 to N come

FOLDER holds test_gradients and test_gradients_f64. compare exits with 1 where our oracle is not
PyTorch's gradient in double, or the plan's error is more than $BOUND (2) times PyTorch's.
"""

import json
import math
import os
import re
import subprocess
import sys

import torch

sys.path.insert(0, "bench/workloads/peers")
from torch_peer.layers import LAYERS  # noqa: E402

# An activation in float is off by about a tenth of this share of its layer's root mean square; one
# that is nearer to a kink may land on its other side, and send its gradient another way.
KINK = 2.0**-18
BOUND = float(os.environ.get("BOUND", 2))


def ask(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout


def seeds_of(folder, net):
    return ask(f"{folder}/test_gradients", "--seeds", net).decode().split()


class Input:
    """Output of `test_gradients_f64 --input NET SEED`: net, weights, images, labels."""

    def __init__(self, folder, net, seed):
        raw = ask(f"{folder}/test_gradients_f64", "--input", net, seed)
        about, data = raw.split(b"\n", 1)
        self.model = json.loads(about)
        types, at = {"f4": torch.float32, "u1": torch.uint8}, 0
        for array in self.model["arrays"]:
            end = at + array["n"] * int(array["type"][1:])
            values = torch.frombuffer(bytearray(data[at:end]), dtype=types[array["type"]])
            setattr(self, array["name"], values)
            at = end

    def build(self, dtype):
        modules, flat = [], False
        for layer in self.model["layers"]:
            if layer["kind"] == "dense" and not flat:
                modules.append(torch.nn.Flatten())
                flat = True
            modules.append(LAYERS[layer["kind"]](torch.nn, layer, layer["options"]))
        net = torch.nn.Sequential(*modules).to(dtype).train()
        with torch.no_grad():
            for p, t in zip(net.parameters(), self.model["tensors"], strict=True):
                p.copy_(self.params[t["offset"]:t["offset"] + t["count"]].view(t["dims"]))
        return net

    def batch(self, dtype):
        """Normalised in double; float gets the nearest numbers."""
        shape = (-1, *self.model["input"])
        mean, std = (torch.tensor(self.model[k], dtype=torch.float64).view(1, -1, 1, 1)
                     for k in ("mean", "std"))
        x = (self.images.view(shape).double() / 255 - mean) / std
        return x.to(dtype), self.labels.long()

    def gradients(self, dtype, hook=None):
        """Of each tensor, flat, in double."""
        net = self.build(dtype)
        for module in net if hook else ():
            module.inplace = False
            module.register_forward_pre_hook(hook)
        x, y = self.batch(dtype)
        torch.nn.functional.cross_entropy(net(x), y).backward()
        return [p.grad.detach().double().flatten() for p in net.parameters()]


class Kinks:
    """The least distance of an activation from a kink, as a share of its layer's root mean square."""

    def __init__(self):
        self.least = math.inf

    def __call__(self, module, arguments):
        (x,) = arguments
        gap = torch.empty(0)
        if isinstance(module, torch.nn.ReLU):
            gap = x.abs()
        elif isinstance(module, torch.nn.MaxPool2d):
            size, stride = (v if isinstance(v, tuple) else (v, v) if isinstance(v, int) else tuple(v)
                            for v in (module.kernel_size, module.stride))
            windows = x.unfold(2, size[0], stride[0]).unfold(3, size[1], stride[1]).flatten(4)
            best = windows.topk(2).values
            gap = (best[..., 0] - best[..., 1])[best[..., 0] != 0]  # ReLU stopped all that are 0
        if gap.numel():
            self.least = min(self.least, (gap.min() / x.square().mean().sqrt()).item())


def projection(g):
    """As in test_gradients.c."""
    i = torch.arange(len(g), dtype=torch.int64)
    signs = ((i * 2654435761) & 0xFFFFFFFF) >> 16 & 1
    return (g * (2 * signs - 1)).sum().item()


def errors(doubles, floats):
    return [(f - d).norm().item() for d, f in zip(doubles, floats)]


def record(folder, nets):
    about = re.findall(r"oneDNN[^\n]*|MKL-DNN[^\n]*|BLAS_INFO=\w+|CPU capability[^\n]*",
                       torch.__config__.show())
    print("# What PyTorch makes of one training step: norm and projection of each tensor's gradient in")
    print("# double, and the norm of what float is off by. See kernels/net/tests/test_gradients.c; written by")
    print("#   python3 bench/tests/lib/pytorch_gradients.py record build/tests NET...")
    print(f"# PyTorch {torch.__version__}; {'; '.join(about)}")
    print("net,images,seed,inputs,tensor,norm,projection,float_error")
    for net in nets:
        for seed in seeds_of(folder, net):
            record_seed(folder, net, seed)


def record_seed(folder, net, seed):
    given, kinks = Input(folder, net, seed), Kinks()
    doubles = given.gradients(torch.float64, kinks)
    print(f"{net}, seed {seed}: {kinks.least:.3g} from a kink", file=sys.stderr)
    if kinks.least < KINK:
        raise SystemExit(f"{net}: an activation is {kinks.least:.3g} from a kink, nearer than "
                         f"{KINK:.3g}: take another seed than {seed}")
    off = errors(doubles, given.gradients(torch.float32))
    for t, g, e in zip(given.model["tensors"], doubles, off):
        print(net, given.model["images"], seed, given.model["hash"], t["name"],
              f"{g.norm().item():.17g}", f"{projection(g):.17g}", f"{e:.9g}", sep=",")


def our_gradients(folder, given, net, seed):
    """Of the oracle, tensor by tensor."""
    raw = ask(f"{folder}/test_gradients_f64", "--gradient", net, 0, seed)
    values = torch.frombuffer(bytearray(raw), dtype=torch.float64)
    return [values[t["offset"]:t["offset"] + t["count"]] for t in given.model["tensors"]]


def our_errors(folder, net, plan, isa, seed):
    lines = ask(f"{folder}/test_gradients", "--errors", net, plan, isa, seed).decode().splitlines()
    return [float(line.split()[1]) for line in lines]


def oracle_is_near(given, net, seed, doubles, ours):
    """Both sum in double, whose roundings are 2^-29 of float's, in float up to 1e-3 of a norm; a
    gradient that is 0 up to rounding is as near to 0 as the others'."""
    off, size = errors(doubles, ours), max(g.norm().item() for g in doubles)
    bad = [t["name"] for t, o, g in zip(given.model["tensors"], off, doubles)
           if not o <= 2 * 1e-3 * 2.0**-29 * max(g.norm().item(), 1e-3 * size)]
    if bad:
        print(f"{net}, seed {seed}: the oracle is not PyTorch in double: {' '.join(bad)}")
    return not bad


def compare_net(folder, plan, net, isas):
    good, names = True, []
    theirs, ours = [], {isa: [] for isa in isas}
    for seed in seeds_of(folder, net):
        given = Input(folder, net, seed)
        names = [t["name"] for t in given.model["tensors"]]
        doubles = given.gradients(torch.float64)
        good &= oracle_is_near(given, net, seed, doubles, our_gradients(folder, given, net, seed))
        theirs.append(errors(doubles, given.gradients(torch.float32)))
        for isa in isas:
            ours[isa].append(our_errors(folder, net, plan, isa, seed))
    for isa in isas:
        ratios = [math.hypot(*o) / math.hypot(*t) for o, t in zip(zip(*ours[isa]), zip(*theirs))]
        worst = max(range(len(ratios)), key=ratios.__getitem__)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{net}, {plan}, {isa}: error over PyTorch's: {mean:.2f} in the geometric mean, "
              f"at most {ratios[worst]:.2f} ({names[worst]})")
        good &= ratios[worst] <= BOUND
    return good


def compare(folder, arguments):
    plan, *nets = arguments
    isas = ask(f"{folder}/test_gradients", "--sets").decode().split()
    return 0 if all([compare_net(folder, plan, net, isas) for net in nets]) else 1


def seeds(folder, arguments):
    net, n = arguments
    for seed in range(1, int(n) + 1):
        kinks = Kinks()
        Input(folder, net, seed).gradients(torch.float64, kinks)
        print(f"{net} {seed}: {kinks.least:.3g} from a kink")


if __name__ == "__main__":
    torch.set_num_threads(1)
    commands = {"record": record, "compare": compare, "seeds": seeds}
    sys.exit(commands[sys.argv[1]](sys.argv[2], sys.argv[3:]))
