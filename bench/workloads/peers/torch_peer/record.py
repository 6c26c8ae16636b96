"""Lines of a record; bench/record/metrics.def lists their fields."""
import ctypes
import gc
import json
import math
import os
import re
import resource
import time
from collections import Counter

import torch

from torch_peer import blas, cores, network, traffic
from torch_peer.failure import FAILED, Failure

KEPT_LINES = 4096  # most lines in memory before they are written between two steps

# Values of required fields that PyTorch does not measure. Missing optional fields are unknown.
LACKED = {
    "hello": {"sync_algorithm": "auto", "mpi_thread_level": "none"},
    "step": {"pack_ns": 0, "poll_ns": 0, "hash": "0" * 16},
    "end": {"poll_ns": 0},
}
LISTS = ("class_samples", "class_correct")  # lists in `eval` lines, beside the fields
OWN = ("cpu_ns", "sent")  # values of a step for the window, not for the record


def software():
    """Returns PyTorch and its compute libraries, in at most 63 letters."""
    config = torch.__config__.show()
    onednn = re.search(r"MKL-DNN v([\d.]+)", config)
    vectors = re.search(r"CPU capability usage: (\S+)", config)
    parts = [f"torch {torch.__version__}" + (f" {vectors[1]}" if vectors else ""),
             f"oneDNN {onednn[1]}" if onednn else "no oneDNN", blas.name(config)]
    return " + ".join(parts)[:63]


def bound_to():
    """Returns the processors of this process, as "0" or "0-1,4"."""
    parts = []
    for cpu in sorted(os.sched_getaffinity(0)):
        if parts and parts[-1][1] == cpu - 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def hello(run, flushes):
    about, model = run.inputs.about, run.inputs.model
    data = ("dataset", "data_source", "data_path", "train_images", "test_images", "batch",
            "global_batch")
    return {"type": "hello", "schema": about["schema"], "rank": run.ranks.rank, "ranks": run.ranks.n,
            "workload": "peer_torch", "version": about["version"], "precision": "f32",
            "model": model["name"], "params": model["parameters"],
            "flops_forward": model["flops_forward"], "flops_backward": model["flops_backward"],
            **{key: about[key] for key in data}, "data_read": run.inputs.option("data.read"),
            "data_shard": run.inputs.option("data.shard"), "read_s": run.inputs.read_s,
            "optimizer": run.inputs.option("train.optimizer"), "lr": run.inputs.number("train.lr"),
            "target_acc_pct": run.inputs.number("train.target_acc_pct") or None,
            "train_precision": run.inputs.option("train.precision"),
            "seed": int(run.inputs.option("seed")), "strategy": run.inputs.option("sync.strategy"),
            "sync_variant": run.inputs.option("sync.variant"),
            "overlap": run.inputs.option("sync.overlap"), "host": os.uname().nodename,
            "machine": cores.machine(),
            "pid": os.getpid(), "bound": bound_to(), "mpi": "gloo" if run.ranks.n > 1 else "",
            "blas": software(), "flushes_denormals": flushes,
            "threads": torch.get_num_threads(), "layout": str(run.trainer.layout),
            "timer_resolution_ns": round(1e9 * time.clock_getres(time.CLOCK_MONOTONIC)),
            "timer_overhead_ns": timer_overhead_ns()}


def timer_overhead_ns():
    begin = time.perf_counter_ns()
    for _ in range(1000):
        time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return (time.perf_counter_ns() - begin) // 1000


def forget_peak():
    """Resets the peak of memory, which must not include trial nets. First returns memory that the allocator
    has kept of them."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


class Memory:
    """Memory (MiB) that is not for computing: images and labels, and the interpreter with its libraries,
    measured before the inputs are used."""

    def __init__(self, inputs):
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[1]) * resource.getpagesize()
        sizes = {name: len(values) for name, values in inputs.arrays.items()}
        data = sum(sizes[name] for name in ("images", "labels", "test_images", "test_labels"))
        self.data_mib = data / 2 ** 20
        self.libraries_mib = (now - sum(sizes.values())) / 2 ** 20
        self.peak_mib = None

    def take_peak(self):
        self.peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Window:
    """Sums over the timed steps; nic: interface to count, or None."""

    def __init__(self, nic):
        self.nic, self.sent = nic, Counter()
        self.steps = self.window_ns = self.cpu_ns = self.begin_ns = self.end_ns = 0
        self.usage_begin = self.usage_end = resource.getrusage(resource.RUSAGE_SELF)

    def add(self, step):
        self.begin_ns = self.begin_ns if self.steps else step["begin_ns"]
        self.end_ns = step["end_ns"]
        self.steps += 1
        self.window_ns += step["end_ns"] - step["begin_ns"]
        self.cpu_ns += step["cpu_ns"]
        self.sent.update(step["sent"])
        self.usage_end = resource.getrusage(resource.RUSAGE_SELF)

    def before(self, ranks):
        """Starts the counters before the first timed step."""
        if not self.steps:
            self.nic_begin = self.read_interface(ranks)
            self.usage_begin = resource.getrusage(resource.RUSAGE_SELF)

    def after(self, ranks):
        """Reads the interface after the latest timed step."""
        self.nic_end = self.read_interface(ranks)

    def read_interface(self, ranks):
        """Reads the interface's counters between two barriers: all messages have arrived, and no rank sends
        before all have read."""
        if not self.nic:
            return None
        ranks.wait_for_all()
        counts = network.counts(self.nic)
        ranks.wait_for_all()
        return counts

    def carried(self):
        """Returns the interface's traffic from the first to the last timed step, including between them."""
        if not self.nic or not self.steps:
            return {}
        return {field: self.nic_end[field] - count for field, count in self.nic_begin.items()}

    def interruptions(self):
        names = {"switches_voluntary": "ru_nvcsw", "switches_involuntary": "ru_nivcsw",
                 "faults_minor": "ru_minflt", "faults_major": "ru_majflt"}
        return {name: getattr(self.usage_end, key) - getattr(self.usage_begin, key)
                for name, key in names.items()}


def clock(run):
    """Returns the clock fields, if this rank shares rank 0's clock. Other clocks are not compared."""
    window, fields = run.window, {}
    if run.ranks.has_first_clock:
        for when, at_ns in (("begin", window.begin_ns), ("end", window.end_ns)):
            fields.update({f"clock_{when}_at_ns": at_ns, f"clock_{when}_offset_ns": 0,
                         f"clock_{when}_error_ns": 0})
        fields["clock_of"] = 0
    return fields


def end(run, equal, difference):
    window, sums = run.window, run.trainer.sums
    sent = {name: window.sent[name] for name in traffic.FIELDS}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {"type": "end", "status": "ok", "steps": run.steps_done, "timed_steps": window.steps,
            "window_ns": window.window_ns, "loop_ns": window.end_ns - window.begin_ns,
            "window_cpu_ns": window.cpu_ns, **sent, **window.carried(),
            **clock(run),
            "wire_source": sums.source if sums else "none",
            "user_s": usage.ru_utime, "sys_s": usage.ru_stime, "rss_mib": run.memory.peak_mib,
            **window.interruptions(), **cores.since_begin(), **run.divergence,
            "data_mib": run.memory.data_mib, "libraries_mib": run.memory.libraries_mib,
            "check": run.check, "weights_equal": equal, "first_difference": difference}


def real(x):
    """Returns infinities and NaN as text, which JSON cannot represent as numbers."""
    return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


class Record:
    """Record of this rank. Many steps are written in parts, between two steps. fields: the fields of each
    type of line, and whether each is required."""

    def __init__(self, folder, rank, fields):
        path = os.path.join(folder, f"rank.{rank}.jsonl") if folder else os.devnull
        self.file, self.lines, self.fields = open(path, "w", encoding="utf-8"), [], fields

    def add(self, line):
        if len(self.lines) == KEPT_LINES:
            self.write()
        self.lines.append(line)

    def whole(self, line):
        """Completes a line with LACKED fields, removes OWN ones and checks the rest."""
        kind = line["type"]
        line = {**LACKED.get(kind, {}), **line}
        for name in OWN:
            line.pop(name, None)
        known = self.fields[kind]
        wrong = line.keys() - known.keys() - {"type", *LISTS}
        wrong |= {name for name, needed in known.items() if needed and name not in line}
        if wrong:
            raise Failure(FAILED, f"{kind}: {' '.join(sorted(wrong))}: unknown or missing fields")
        return {key: real(x) if isinstance(x, float) else x for key, x in line.items()}

    def write(self):
        for line in self.lines:
            self.file.write(json.dumps(self.whole(line), allow_nan=False) + "\n")
        self.lines = []

    def close(self):
        self.write()
        self.file.close()
