"""Trainer of one rank: network, optimizer, batches, steps, evaluation."""
import hashlib
import itertools
import time

import torch
from torch.nn.functional import cross_entropy, pad

from torch_peer.failure import FAILED, Failure
from torch_peer.layers import LAYERS


DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}  # by train.precision
CROP_BORDER = 4  # zero padding that a crop may include, as in train_cnn


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def tensor_of(inputs, name, dtype):
    """Returns a tensor [n] over an array's memory. Indices are below 2^31 and fit int32."""
    values = inputs.arrays[name]
    return torch.frombuffer(values, dtype=dtype) if values else torch.empty(0, dtype=dtype)


def build_net(inputs):
    """Returns nn.Sequential with the initial weights. Images are flattened before the first dense layer."""
    modules, flat = [], False
    for layer in inputs.model["layers"]:
        if layer["kind"] == "dense" and not flat:
            modules.append(torch.nn.Flatten())
            flat = True
        modules.append(LAYERS[layer["kind"]](torch.nn, layer, layer["options"]))
    net = torch.nn.Sequential(*modules)
    tensors = inputs.model["tensors"]
    if [list(p.shape) for p in net.parameters()] != [t["dims"] for t in tensors]:
        raise Failure(FAILED, f"parameters of {inputs.model['name']} have other shapes than in PyTorch")
    params = tensor_of(inputs, "params", torch.float32)
    with torch.no_grad():
        for parameter, t in zip(net.parameters(), tensors):
            parameter.copy_(params[t["offset"]:t["offset"] + t["count"]].view(t["dims"]))
    return net


def build_optimizer(inputs, weights):
    """Returns the optimizer; its learning rate is set before each step."""
    decay = inputs.number("train.weight_decay")
    if inputs.option("train.optimizer") == "sgd":
        return torch.optim.SGD(weights, lr=1, momentum=inputs.number("train.momentum"),
                               weight_decay=decay, foreach=True)
    betas = (inputs.number("train.beta1"), inputs.number("train.beta2"))
    return torch.optim.Adam(weights, lr=1, betas=betas, eps=inputs.number("train.epsilon"),
                            weight_decay=decay, foreach=True)


class Weights:
    """fp32 weights that the optimizer updates, `master`, and the parameters of the network, `net`. With dtype
    bfloat16 the network computes with rounded copies, except batch norm, which stays in fp32."""

    def __init__(self, net, dtype):
        self.net = list(net.parameters())
        self.master, self.rounded = self.net, []
        if dtype == torch.float32:
            return
        exact = [p.detach().clone() for p in self.net]
        for module in net:
            if not isinstance(module, torch.nn.BatchNorm2d):
                module.to(dtype)
        self.master = [p if p.dtype == torch.float32 else copy for p, copy in zip(self.net, exact)]
        self.rounded = [(p, copy) for p, copy in zip(self.net, self.master) if p is not copy]

    def take_gradients(self):
        """Converts the gradients of rounded copies to fp32."""
        for p, master in self.rounded:
            if master.grad is None:
                master.grad = torch.empty_like(master)
            master.grad.copy_(p.grad)

    def round(self):
        with torch.no_grad():
            for p, master in self.rounded:
                p.copy_(master)


class Batch:
    """Range of a step's images in the list of samples, and the divisor of their losses: images of all ranks
    if gradients are summed, their mean over ranks if sums are divided, own images without sums."""

    def __init__(self, end, count, total):
        self.begin, self.end, self.total = end - count, end, total


class Trainer:
    """Trainer. layout: torch.memory_format. sums_of: function from a net and its fp32 weights to gradient sums
    (sums.py), or None."""

    def __init__(self, inputs, layout, sums_of=None):
        self.inputs, self.layout = inputs, layout
        self.net = build_net(inputs).to(memory_format=layout).train()
        self.dtype = DTYPES[inputs.option("train.precision")]
        self.parameters = Weights(self.net, self.dtype)
        self.sums = sums_of(self.net, self.parameters.master) if sums_of else None
        self.forward = self.sums.forward if self.sums else self.net
        self.optimizer = build_optimizer(inputs, self.parameters.master)
        self.images = tensor_of(inputs, "images", torch.uint8).view(-1, *inputs.model["input"])
        self.labels = tensor_of(inputs, "labels", torch.uint8).long()
        self.samples = tensor_of(inputs, "samples", torch.int32).long()
        weights = tensor_of(inputs, "weights", torch.float32)
        self.weights = weights if len(weights) else None
        crops = tensor_of(inputs, "crops", torch.int8)
        self.crops = crops.view(-1, 3).long() if len(crops) else None
        mean, std = (torch.tensor(inputs.model[k]).view(1, -1, 1, 1) for k in ("mean", "std"))
        self.scale, self.shift = 1 / (255 * std), mean / std
        self.list_batches()

    def list_batches(self):
        inputs = self.inputs
        self.epochs, self.steps, self.counts = (inputs.numbers(name, "I")
                                                for name in ("epoch", "step", "count"))
        self.rates = inputs.numbers("lr", "d")
        ends = list(itertools.accumulate(self.counts))
        totals = [total / self.sums.divisor for total in inputs.numbers("global_of", "I")] \
            if self.sums else [self.own_images(end - n, end) for end, n in zip(ends, self.counts)]
        self.batches = [Batch(*b) for b in zip(ends, self.counts, totals)]

    def own_images(self, begin, end):
        """Returns this rank's images without padding, at least 1 to divide by."""
        n = end - begin if self.weights is None else int((self.weights[begin:end] > 0).sum())
        return max(n, 1)

    def normalise(self, images):
        """Returns normalised images in the network's layout and type, from bytes."""
        x = images.to(torch.float32, memory_format=self.layout)
        return x.mul_(self.scale).sub_(self.shift).to(self.dtype)

    def gather(self, batch):
        """Returns the batch's images as bytes. With augmentation, they are padded with zeros, cropped and
        mirrored, the whole batch at once."""
        images = self.images.index_select(0, self.samples[batch.begin:batch.end])
        if self.crops is None:
            return images
        n, c, h, w = images.shape
        crops = self.crops[batch.begin:batch.end]
        columns = torch.where(crops[:, 2:] > 0, torch.arange(w - 1, -1, -1), torch.arange(w))
        rows = crops[:, 0].view(n, 1) + torch.arange(h) + CROP_BORDER
        columns = columns + crops[:, 1].view(n, 1) + CROP_BORDER
        return pad(images, [CROP_BORDER] * 4)[
            torch.arange(n).view(n, 1, 1, 1), torch.arange(c).view(1, c, 1, 1),
            rows.view(n, 1, h, 1), columns.view(n, 1, 1, w)]

    def loss(self, logits, labels, batch):
        """Returns this rank's part of the mean loss over all images of the step, times the sums' divisor."""
        if self.weights is not None:
            losses = cross_entropy(logits, labels, reduction="none")
            return (losses * self.weights[batch.begin:batch.end]).sum() / batch.total
        if batch.total == batch.end - batch.begin:
            return cross_entropy(logits, labels)
        return cross_entropy(logits, labels, reduction="sum") / batch.total

    def forget_gradients(self):
        """Releases the gradients that backward writes. Sums zero their own buffer."""
        rounded = [p for p, _ in self.parameters.rounded]
        for p in rounded if self.sums else self.parameters.net:
            p.grad = None
        if self.sums:
            self.sums.forget()

    def step(self, i):
        """Trains on batch i of the run; returns the step's line of the record with cpu_ns and messages."""
        batch = self.batches[i]
        cpu_ns, begin_ns = time.process_time_ns(), now()

        x = self.normalise(self.gather(batch))
        y = self.labels.index_select(0, self.samples[batch.begin:batch.end])
        loaded_ns = now()

        logits = self.forward(x).float()
        loss = self.loss(logits, y, batch)
        forward_ns = now()

        self.forget_gradients()
        loss.backward()
        self.parameters.take_gradients()
        backward_ns = now()

        if self.sums:
            self.sums.sum_gradients()
        summed_ns = now()

        self.optimizer.param_groups[0]["lr"] = self.rates[i]
        self.optimizer.step()
        self.parameters.round()
        end_ns, cpu_ns = now(), time.process_time_ns() - cpu_ns

        comm_ns, exposed_ns = self.sums.times(summed_ns - backward_ns) if self.sums else (0, 0)
        computed_ns = summed_ns - exposed_ns if self.sums else backward_ns
        return {"type": "step", "epoch": self.epochs[i], "step": self.steps[i],
                "begin_ns": begin_ns, "end_ns": end_ns, "load_ns": loaded_ns - begin_ns,
                "forward_ns": forward_ns - loaded_ns, "backward_ns": computed_ns - forward_ns,
                "comm_total_ns": comm_ns, "comm_exposed_ns": exposed_ns,
                "optimizer_ns": end_ns - summed_ns, "arrive_ns": computed_ns if self.sums else 0,
                "cpu_ns": cpu_ns, "sent": self.sums.sent() if self.sums else {},
                **self.score(loss.detach(), logits.detach(), y, batch)}

    def score(self, loss, logits, labels, batch):
        """Returns the number of images without padding, their summed loss and hits."""
        hits = logits.argmax(1) == labels
        if self.weights is not None:
            counted = self.weights[batch.begin:batch.end] > 0
            return {"samples": int(counted.sum()), "loss_sum": float(loss) * batch.total,
                    "correct": int((hits & counted).sum())}
        return {"samples": len(labels), "loss_sum": float(loss) * batch.total,
                "correct": int(hits.sum())}

    def hash(self):
        digest = hashlib.blake2b(digest_size=8)
        for parameter in self.parameters.master:
            digest.update(parameter.detach().contiguous().numpy())
        return digest.hexdigest()

    def wrong_weight(self):
        """Returns the first weight that is infinite or NaN; 0 if all are finite."""
        for parameter in self.parameters.master:
            values = parameter.detach().flatten()
            wrong = values[~torch.isfinite(values)]
            if len(wrong):
                return float(wrong[0])
        return 0.0

    def evaluate(self, rank, ranks, size):
        """Evaluates this rank's share of the test images, `size` at a time. Returns images, summed loss, hits,
        then images and hits per class."""
        classes = self.inputs.about["data_classes"]
        images = tensor_of(self.inputs, "test_images", torch.uint8)
        images = images.view(-1, *self.inputs.model["input"])
        labels = tensor_of(self.inputs, "test_labels", torch.uint8).long()
        first, last = (len(labels) * k // ranks for k in (rank, rank + 1))
        sums = torch.zeros(3 + 2 * classes, dtype=torch.float64)
        self.net.eval()
        with torch.inference_mode():
            for i in range(first, last, size):
                x, y = (part[i:min(i + size, last)] for part in (images, labels))
                logits = self.net(self.normalise(x)).float()
                hit = logits.argmax(1) == y
                loss = cross_entropy(logits, y, reduction="sum")
                sums[:3] += torch.tensor([len(y), float(loss), int(hit.sum())])
                sums[3:3 + classes] += torch.bincount(y, minlength=classes)
                sums[3 + classes:] += torch.bincount(y[hit], minlength=classes)
        self.net.train()
        return sums.tolist()
