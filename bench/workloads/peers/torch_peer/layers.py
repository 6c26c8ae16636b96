"""What of a network or a run PyTorch has here. Needs no PyTorch, so that asking is quick."""
from torch_peer.failure import UNAVAILABLE, Failure

# A layer of the description, with torch.nn, as a module of PyTorch.
LAYERS = {
    "conv2d": lambda nn, layer, o: nn.Conv2d(layer["in"][0], o["channels"], o["kernel"],
                                             o["stride"], o["pad"]),
    "maxpool2d": lambda nn, layer, o: nn.MaxPool2d(o["size"], o["stride"]),
    "relu": lambda nn, layer, o: nn.ReLU(inplace=True),
    "dropout": lambda nn, layer, o: nn.Dropout(o["rate"]),
    "dropout2d": lambda nn, layer, o: nn.Dropout2d(o["rate"]),
    "dense": lambda nn, layer, o: nn.Linear(layer["in"][0] * layer["in"][1] * layer["in"][2],
                                            o["outputs"]),
}

KNOWN = {
    "data.read": ("all",),
    "sync.strategy": ("none", "allreduce"),
    "sync.variant": ("usual",),
    "sync.overlap": ("none",),
    "train.optimizer": ("sgd", "adam"),
    "checkpoint.every_epochs": ("0",),
    "checkpoint.every_steps": ("0",),
    "checkpoint.resume": ("no",),
    "checkpoint.start": ("no",),
}


def check_support(inputs):
    """Says before a launch what it could not do."""
    for layer in inputs.model["layers"]:
        if layer["kind"] not in LAYERS:
            raise Failure(UNAVAILABLE, f"no layer '{layer['kind']}' here; known: {' '.join(LAYERS)}")
    for key, known in KNOWN.items():
        if inputs.option(key) not in known:
            raise Failure(UNAVAILABLE, f"no {key} '{inputs.option(key)}' here; known: "
                                       f"{' '.join(known)}")
