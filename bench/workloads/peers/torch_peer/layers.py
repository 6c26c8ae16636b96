"""Layers and options that this peer supports. Does not import PyTorch, so that checks are fast."""
import re

from torch_peer.failure import UNAVAILABLE, Failure

# Makes a PyTorch module from a layer of the description.
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

# FREE: options that may have any value, because the peer or peer_inputs implements them, or because they
# do not affect a peer. CHOICES: options with some supported values.
FREE = re.compile(r"model|seed|data\.(set|path|name|samples|shard)|train\.(lr.*|momentum|weight_decay|"
                  r"beta[12]|epsilon|global_batch|batch_per_rank|remainder|epochs|target_acc_pct|"
                  r"shuffle)|sync\.(strategy|cap_mib|first_cap_mib|deadline)|checkpoint\.path|"
                  r"(kernels\.(?!isa)|place\.|peer\.).*|measure\.(?!timeline).*")
CHOICES = {"train.optimizer": ("sgd", "adam"), "sync.algorithm": ("auto",),
           "data.augment": ("none", "crop_flip"), "train.precision": ("fp32", "bf16")}
# Instructions of x86 that oneDNN needs for products of bfloat16. Without them PyTorch uses plain loops.
VECTORS_OF_BF16 = {"avx512f", "avx512bw", "avx512vl", "avx512dq"}


def check_support(inputs):
    """Rejects a launch with unsupported layers or options. Options unknown here must have their default,
    so that no new option is ignored."""
    for layer in inputs.model["layers"]:
        if layer["kind"] not in LAYERS:
            raise Failure(UNAVAILABLE, f"layer '{layer['kind']}' is not supported; known: {' '.join(LAYERS)}")
    for key, value in inputs.about["options"].items():
        known = CHOICES.get(key, (inputs.about["presets"][key],))
        if not FREE.fullmatch(key) and value not in known:
            raise Failure(UNAVAILABLE, f"{key} '{value}' is not supported; known: {' '.join(known)}")
    if inputs.option("train.precision") == "bf16" and inputs.option("sync.strategy") == "bucketed":
        raise Failure(UNAVAILABLE, "train.precision 'bf16' is not supported with sync.strategy 'bucketed', since "
                                   "gloo does not sum buckets of bfloat16. Use sync.strategy allreduce")


def check_processor(inputs):
    """Rejects a campaign's bf16 points on processors where PyTorch takes many times as long as in fp32."""
    if inputs.option("train.precision") != "bf16":
        return
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        words = set(file.read().split())
    if not VECTORS_OF_BF16 <= words:
        raise Failure(UNAVAILABLE, "train.precision 'bf16' needs AVX-512. Without it PyTorch multiplies bfloat16 in "
                                   "plain loops")
