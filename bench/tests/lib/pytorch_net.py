"""The networks of configs/models as a user of PyTorch writes them, fed from a checkpoint.

  pytorch_net.py draw FOLDER [TRAIN TEST]         IDX files of images that can be learned
  pytorch_net.py draw_colours FOLDER              the same as CIFAR-10's
  pytorch_net.py train MODEL CHECKPOINT FOLDER [DTYPE [PREFIX]]
                                                  a few steps of PyTorch's own, then its state_dict in this type, with
                                                  this prefix before each name
  pytorch_net.py compare MODEL CHECKPOINT FOLDER PREDICTIONS
  pytorch_net.py narrowed CHECKPOINT COPY DTYPE   whether the copy has the checkpoint's parameters in this type, all else
                                                  as it is
  pytorch_net.py serve                            the same words from standard input, a command a line, each
                                                  answered by what it prints and a line "status N"

State goes both ways by load_state_dict's strict rule, names and types of all buffers included. compare exits with 1 when PyTorch and the trainer, reading the same weights, tell a test image
differently although PyTorch's two best logits are more than TIE apart.
"""

import gzip
import json
import os
import random
import shlex
import struct
import sys
import traceback

import torch
from torch import nn
from torch.nn import functional as F

TIE = 1e-4


class Lenet21k(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = (x - 0.1307) / 0.3081
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


class Keras690k(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 128, 3)
        self.conv3 = nn.Conv2d(128, 256, 3)
        self.fc1 = nn.Linear(256, 1000)
        self.fc2 = nn.Linear(1000, 100)
        self.fc3 = nn.Linear(100, 10)

    def forward(self, x):
        for conv in (self.conv1, self.conv2, self.conv3):
            x = F.max_pool2d(F.relu(conv(x)), 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Keras1200k(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = F.dropout(x, 0.25, self.training).flatten(1)
        return self.fc2(F.dropout(F.relu(self.fc1(x)), 0.5, self.training))


class Softmax784(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(784, 10)

    def forward(self, x):
        return self.fc(((x - 0.1307) / 0.3081).flatten(1))


class Cifar62k(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = (x - 0.5) / 0.5
        for conv in (self.conv1, self.conv2):
            x = F.max_pool2d(F.relu(conv(x)), 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Vgg(nn.Module):
    POOLS_AFTER = (1, 2, 4, 6, 8)

    def __init__(self, *channels):
        super().__init__()
        before = 3
        for i, n in enumerate(channels, 1):
            self.add_module(f"conv{i}", nn.Conv2d(before, n, 3, padding=1))
            self.add_module(f"norm{i}", nn.BatchNorm2d(n))
            before = n
        self.fc = nn.Linear(before, 10)
        self.register_buffer("mean", torch.tensor([125.3, 123.0, 113.9]).view(3, 1, 1) / 255, False)
        self.register_buffer("std", torch.tensor([63.0, 62.1, 66.7]).view(3, 1, 1) / 255, False)

    def forward(self, x):
        x = (x - self.mean) / self.std
        for i in range(1, 9):
            x = F.relu(getattr(self, f"norm{i}")(getattr(self, f"conv{i}")(x)))
            if i in self.POOLS_AFTER:
                x = F.max_pool2d(x, 2)
        return self.fc(x.flatten(1))


NETS = {
    "softmax_784": Softmax784,
    "lenet_21k": Lenet21k,
    "keras_690k": Keras690k,
    "keras_1200k": Keras1200k,
    "cifar_62k": Cifar62k,
    "vgg_mini": lambda: Vgg(4, 8, 16, 16, 32, 32, 32, 32),
    "vgg11_bn": lambda: Vgg(64, 128, 256, 256, 512, 512, 512, 512),
}
TYPES = {
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
    "I64": torch.int64,
}
# As DistributedDataParallel and torch.compile write names.
PREFIXES = ("module.", "_orig_mod.")


def plain_name(name):
    for prefix in PREFIXES:
        name = name[len(prefix) :] if name.startswith(prefix) else name
    return name


def read_safetensors(path):
    """The model's tensors by name: all but the sections of optimizer and ranks."""
    with open(path, "rb") as file:
        contents = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", contents)
    header = json.loads(contents[8 : 8 + length].decode())
    data = contents[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or name.startswith(("optimizer.", "rank.")):
            continue
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(data[begin:end], dtype=TYPES[entry["dtype"]])
        assert begin % values.element_size() == 0, f"{name} begins at {begin}"
        tensors[plain_name(name)] = values.reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors):
    """As the format's own library does: numbers of 8 bytes first, no metadata."""
    names = {v: k for k, v in TYPES.items()}
    header, data = {}, b""
    for name, value in sorted(tensors.items(), key=lambda t: -t[1].element_size()):
        # numpy has no bfloat16, but its bytes.
        raw = value.contiguous().view(torch.int16) if value.element_size() == 2 else value
        values = raw.contiguous().numpy().tobytes()
        header[name] = {
            "dtype": names[value.dtype],
            "shape": list(value.shape),
            "data_offsets": [len(data), len(data) + len(values)],
        }
        data += values
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_colours(folder, name):
    records = torch.frombuffer(
        bytearray(open(os.path.join(folder, name), "rb").read()), dtype=torch.uint8
    ).reshape(-1, 3073)
    return records[:, 1:].reshape(-1, 3, 32, 32).float() / 255, records[:, 0].long()


def read_images(folder):
    if os.path.exists(os.path.join(folder, "test_batch.bin")):
        return read_colours(folder, "test_batch.bin")[0]
    path = os.path.join(folder, "t10k-images-idx3-ubyte")
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz")
    with opened as file:
        magic, n, rows, columns = struct.unpack(">IIII", file.read(16))
        assert magic == 2051, magic
        pixels = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    return pixels.reshape(n, 1, rows, columns).float() / 255


def compare(model, checkpoint, folder, predictions):
    net = NETS[model]()
    net.load_state_dict(read_safetensors(checkpoint), strict=True)
    net.eval()
    with torch.no_grad():
        logits = torch.cat([net(part) for part in read_images(folder).split(500)])
    best = logits.topk(2)
    gap = best.values[:, 0] - best.values[:, 1]
    with open(predictions) as file:
        ours = torch.tensor([int(line) for line in file])
    assert ours.shape == gap.shape, (ours.shape, gap.shape)
    differ = ours != best.indices[:, 0]
    told = differ & (gap >= TIE)
    print(
        f"{model}: {len(ours)} images, {int(differ.sum())} told differently, "
        f"{int(told.sum())} of them by more than {TIE}; classes {sorted(set(ours.tolist()))}"
    )
    print("batches", *{int(v) for k, v in net.state_dict().items() if k.endswith("_tracked")})
    return int(told.any())


def train(model, checkpoint, folder, dtype="F32", prefix=""):
    """On the images that are told afterwards: what is learned need not be right."""
    torch.manual_seed(1)
    net = NETS[model]()
    images = read_images(folder)[:64]
    labels = torch.arange(64) % 10
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for _ in range(4 if model == "vgg11_bn" else 30):
        optimizer.zero_grad()
        F.cross_entropy(net(images), labels).backward()
        optimizer.step()
    net.to(TYPES[dtype])
    write_safetensors(checkpoint, {prefix + k: v for k, v in net.state_dict().items()})
    return 0


def narrowed(checkpoint, copy, dtype):
    whole, narrow = read_safetensors(checkpoint), read_safetensors(copy)
    assert whole.keys() == narrow.keys(), whole.keys() ^ narrow.keys()
    for name, value in whole.items():
        param = name.endswith((".weight", ".bias"))
        expected = value.to(TYPES[dtype]) if param else value
        assert narrow[name].dtype == expected.dtype, name
        assert torch.equal(narrow[name], expected), name
    return 0


def noise(n):
    half = bytes(i // 2 for i in range(256))
    return bytearray(random.getrandbits(8 * n).to_bytes(n, "little").translate(half))


def draw_colours(folder):
    """A bar at a place of its own for each class, in noise."""
    random.seed(1)
    for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
        with open(os.path.join(folder, name), "wb") as file:
            for i in range(200):
                image = noise(3072)
                for row in range(3 * 32):
                    begin = row * 32 + 1 + 3 * (i % 10)
                    image[begin : begin + 3] = b"\xff\xff\xff"
                file.write(bytes([i % 10]) + image)
    return 0


def draw(folder, n_train=6000, n_test=1000):
    """A bar at a place of its own for each class, in noise."""
    random.seed(1)
    for part, n in (("train", int(n_train)), ("t10k", int(n_test))):
        labels = bytes(i % 10 for i in range(n))
        images = noise(n * 784)
        for i, label in enumerate(labels):
            for row in range(4, 24):
                begin = i * 784 + row * 28 + 3 + 2 * label
                images[begin : begin + 3] = b"\xff\xff\xff"
        with open(os.path.join(folder, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, n, 28, 28) + images)
        with open(os.path.join(folder, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 2049, n) + labels)
    return 0


def serve():
    """To load PyTorch takes longer than most commands."""
    for line in sys.stdin:
        try:
            name, *arguments = shlex.split(line)
            status = COMMANDS[name](*arguments)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            status = 1
        print("status", status, flush=True)
    return 0


COMMANDS = {
    "draw": draw,
    "draw_colours": draw_colours,
    "train": train,
    "narrowed": narrowed,
    "compare": compare,
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit({**COMMANDS, "serve": serve}[sys.argv[1]](*sys.argv[2:]))
