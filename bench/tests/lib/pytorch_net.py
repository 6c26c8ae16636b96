"""The networks of configs/models as a user of PyTorch writes them, fed from a checkpoint.

  pytorch_net.py draw FOLDER                      IDX files of images that can be learned
  pytorch_net.py compare MODEL CHECKPOINT FOLDER PREDICTIONS

compare exits with 1 when PyTorch and the trainer, reading the same weights, tell a test image
differently although PyTorch's two best logits are more than TIE apart.
"""

import gzip
import json
import os
import random
import struct
import sys

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


NETS = {"lenet_21k": Lenet21k, "keras_690k": Keras690k}


def read_safetensors(path):
    """Parameters by name: all tensors but the sections of optimizer and ranks."""
    with open(path, "rb") as file:
        contents = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", contents)
    header = json.loads(contents[8 : 8 + length].decode())
    data = contents[8 + length :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or name.startswith(("optimizer.", "rank.")):
            continue
        assert entry["dtype"] == "F32", entry
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(data[begin:end], dtype=torch.float32)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def read_images(folder):
    path = os.path.join(folder, "t10k-images-idx3-ubyte")
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz")
    with opened as file:
        magic, n, rows, columns = struct.unpack(">IIII", file.read(16))
        assert magic == 2051, magic
        pixels = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    return pixels.reshape(n, 1, rows, columns).float() / 255


def compare(model, checkpoint, folder, predictions):
    net = NETS[model]()
    net.load_state_dict(read_safetensors(checkpoint))
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
    return int(told.any())


def draw(folder):
    """A bar at a place of its own for each class, in noise."""
    random.seed(1)
    for part, n in (("train", 6000), ("t10k", 1000)):
        labels = bytes(i % 10 for i in range(n))
        images = bytearray(random.getrandbits(8) // 2 for _ in range(n * 784))
        for i, label in enumerate(labels):
            for row in range(4, 24):
                begin = i * 784 + row * 28 + 3 + 2 * label
                images[begin : begin + 3] = b"\xff\xff\xff"
        with open(os.path.join(folder, f"{part}-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 2051, n, 28, 28) + images)
        with open(os.path.join(folder, f"{part}-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 2049, n) + labels)
    return 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit({"draw": draw, "compare": compare}[sys.argv[1]](*sys.argv[2:]))
