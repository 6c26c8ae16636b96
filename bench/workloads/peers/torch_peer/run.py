"""Run of one rank, from inputs to record."""
import math
import time

import torch

from torch_peer import record, sums
from torch_peer.layout import choose_layout
from torch_peer.ranks import Ranks
from torch_peer.trainer import Trainer

RECORDED_STEPS = 200  # recorded in the last epoch of an accuracy run, as in train_cnn


class Run:
    """Run of this rank; launcher: None for a single rank."""

    def __init__(self, inputs, rank, ranks, launcher):
        self.inputs, self.about = inputs, inputs.about
        self.memory = record.Memory(inputs)
        torch.set_num_threads(int(inputs.option("place.threads_per_rank")))
        torch.set_num_interop_threads(1)
        flushes = torch.set_flush_denormal(True)
        self.ranks = Ranks(rank, ranks, self.about, launcher)
        layout = self.ranks.first_says(choose_layout(inputs) if rank == 0 else None)
        record.forget_peak()
        torch.manual_seed(int(inputs.option("seed")))
        self.trainer = Trainer(inputs, layout, sums.of_run(inputs, self.ranks))
        self.check = inputs.option("measure.check")
        self.hashes, self.window, self.steps_done = [], record.Window(self.about["nic"]), 0
        self.divergence = {}
        self.record = record.Record(self.about["record"], self.ranks.rank, self.about["fields"])
        self.record.add(record.hello(self, flushes))

    def run(self):
        if self.about["run"] == "time":
            self.for_time()
        else:
            self.for_accuracy()
        self.memory.take_peak()
        self.watch("a weight", self.trainer.wrong_weight())
        equal, difference = self.compare()
        self.record.add(record.end(self, equal, difference))
        self.record.close()
        self.ranks.part()

    def watch(self, what, x):
        """Keeps the first value that was not finite; training continues."""
        if not math.isfinite(x) and not self.divergence:
            self.divergence = {"diverged_step": self.steps_done,
                               "diverged": f"{what} is {'nan' if math.isnan(x) else 'infinite'}"}

    def step(self, i, timed, recorded):
        if timed:
            self.window.before(self.ranks)
        line = self.trainer.step(i)
        self.steps_done += 1
        self.watch("loss", line["loss_sum"])
        if self.check == "step":
            line["hash"] = self.trainer.hash()
            self.hashes.append((self.steps_done, line["hash"]))
        if timed:
            self.window.add(line)
        if recorded and self.about["record_steps"]:
            self.record.add({**line, "timed": timed})
        return line

    def for_time(self):
        warmup = int(self.inputs.option("measure.time.warmup_steps"))
        for i in range(len(self.trainer.batches)):
            self.step(i, i >= warmup, True)
        self.window.after(self.ranks)
        step_s = 1e-9 * self.window.window_ns / self.window.steps
        batch = self.about["global_batch"]
        self.say(f"{self.window.steps} steps of {batch} images on {self.ranks.n} ranks: "
                 f"{1e3 * step_s:.3f} ms per step, {batch / step_s:.0f} images/s")

    def for_accuracy(self):
        epochs = int(self.inputs.option("train.epochs"))
        target = self.inputs.number("train.target_acc_pct")
        for epoch in range(epochs):
            lines, test_acc_pct = self.epoch(epoch, epochs)
            if 0 < target <= test_acc_pct:
                break
        if self.about["record_steps"]:
            for line in lines:
                self.record.add({**line, "timed": True})

    def epoch(self, epoch, epochs):
        """Trains an epoch; returns its first steps, for the record, and the test accuracy after it."""
        steps, lines, taken_ns, sums = self.about["epoch_steps"], [], 0, [0, 0, 0]
        for k in range(steps):
            line = self.step(epoch * steps + k, True, False)
            if k < RECORDED_STEPS:
                lines.append(line)
            taken_ns += line["end_ns"] - line["begin_ns"]  # without work between steps
            sums = [a + line[b] for a, b in zip(sums, ("samples", "loss_sum", "correct"))]
        self.window.after(self.ranks)
        seconds = 1e-9 * taken_ns
        n, loss, hits = self.ranks.add_up(sums)
        self.record.add({"type": "epoch", "epoch": epoch, "seconds": seconds, "steps": steps,
                         "samples": int(n), "train_loss": loss / n,
                         "train_acc_pct": 100 * hits / n,
                         "lr": self.trainer.rates[(epoch + 1) * steps - 1]})
        test = self.evaluate(epoch)
        self.say(f"epoch {epoch + 1}/{epochs}  train loss {loss / n:.4f}  accuracy "
                 f"{100 * hits / n:.2f} %  test loss {test['test_loss']:.4f}  accuracy "
                 f"{test['test_acc_pct']:.2f} %  {seconds:.2f} s  {n / seconds:.0f} images/s")
        return lines, test["test_acc_pct"]

    def evaluate(self, epoch):
        begin, classes = time.monotonic(), self.about["data_classes"]
        self.ranks.take_first(self.trainer.net.buffers())
        share = self.trainer.evaluate(self.ranks.rank, self.ranks.n, self.about["batch"])
        sums = self.ranks.add_up(share)
        line = {"type": "eval", "epoch": epoch, "seconds": time.monotonic() - begin,
                "samples": int(sums[0]), "test_loss": sums[1] / sums[0],
                "test_acc_pct": 100 * sums[2] / sums[0],
                "class_samples": [int(x) for x in sums[3:3 + classes]],
                "class_correct": [int(x) for x in sums[3 + classes:]]}
        self.watch("test loss", line["test_loss"])
        self.record.add(line)
        return line

    def compare(self):
        """Returns whether all ranks' weights are equal (None: not checked), and the first difference."""
        if self.check == "none":
            return None, ""
        if self.check == "end":
            self.hashes.append((self.steps_done, self.trainer.hash()))
        return self.ranks.compare(self.hashes)

    def say(self, text):
        if self.ranks.rank == 0:
            print(text, flush=True)
