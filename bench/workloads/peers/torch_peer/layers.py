"""What of a network or a run PyTorch has here. Needs no PyTorch, so that asking is quick."""
import re

from torch_peer.failure import UNAVAILABLE, Failure

# A layer of the description, with torch.nn, as a module of PyTorch.
LAYERS = {
    "conv2d": lambda nn, layer, o: nn.Conv2d(layer["in"][0], o["channels"], o["kernel"],
                                             o["stride"], o["pad"], bias=o.get("bias", True)),
    "maxpool2d": lambda nn, layer, o: nn.MaxPool2d(o["size"], o["stride"], o.get("pad", 0)),
    "avgpool2d": lambda nn, layer, o: nn.AvgPool2d(o["size"], o["stride"], o.get("pad", 0)),
    "batchnorm2d": lambda nn, layer, o: nn.BatchNorm2d(layer["in"][0], o["epsilon"], o["momentum"]),
    "relu": lambda nn, layer, o: nn.ReLU(inplace=True),
    "dropout": lambda nn, layer, o: nn.Dropout(o["rate"]),
    "dropout2d": lambda nn, layer, o: nn.Dropout2d(o["rate"]),
    "dense": lambda nn, layer, o: nn.Linear(layer["in"][0] * layer["in"][1] * layer["in"][2],
                                            o["outputs"], bias=o.get("bias", True)),
}

# Options that may have any value, because they are honoured (rates and batches by peer_inputs) or
# concern no peer; and those that may have some.
FREE = re.compile(r"model|seed|data\.(set|path|name|samples|shard)|train\.(lr.*|momentum|weight_decay|"
                  r"beta[12]|epsilon|global_batch|batch_per_rank|remainder|epochs|target_acc_pct|"
                  r"shuffle)|sync\.(strategy|cap_mib|first_cap_mib|deadline)|checkpoint\.path|"
                  r"(kernels\.(?!isa)|place\.|peer\.).*|measure\.(?!timeline).*")
CHOICES = {"train.optimizer": ("sgd", "adam"), "sync.algorithm": ("auto",),
           "data.augment": ("none", "crop_flip")}


def check_support(inputs):
    """Says before a launch what it could not do. What is not honoured must stay at its preset: an
    option that is new to this file is not passed over in silence."""
    for layer in inputs.model["layers"]:
        if layer["kind"] not in LAYERS:
            raise Failure(UNAVAILABLE, f"no layer '{layer['kind']}' here; known: {' '.join(LAYERS)}")
    for key, value in inputs.about["options"].items():
        known = CHOICES.get(key, (inputs.about["presets"][key],))
        if not FREE.fullmatch(key) and value not in known:
            raise Failure(UNAVAILABLE, f"no {key} '{value}' here; known: {' '.join(known)}")
