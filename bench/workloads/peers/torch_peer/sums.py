"""How gradients meet, a class for each of our strategies that PyTorch's users have."""
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from torch_peer import traffic
from torch_peer.failure import UNAVAILABLE, Failure

MIB = 1 << 20
PRESET_CAP_MIB = 25  # of DistributedDataParallel


class AfterBackward:
    """Sums gradients when backward is through. They are views of one buffer, to be summed in one call
    or in several. The loss is divided by the images of all ranks, so that what others call the mean
    of their gradients is a sum here."""

    divisor = 1  # what a sum is divided by
    source, of_call = "formula: gloo's ring", staticmethod(traffic.ring)

    def __init__(self, net, inputs, ranks):
        self.ranks, self.forward = ranks, net
        self.parameters = list(net.parameters())
        self.flat = torch.zeros(sum(p.numel() for p in self.parameters))
        begin = 0
        for p in self.parameters:
            p.grad = self.flat[begin:begin + p.numel()].view(p.shape)
            begin += p.numel()

    def forget(self):
        """Before backward, which adds to what is there."""
        self.flat.zero_()

    def times(self, waited_ns):
        """Of the step that is done: from its first call to the end of the last, and how much of that no
        computing hid."""
        return waited_ns, waited_ns

    def sizes(self):
        """Bytes of each call of the step that is done."""
        return tuple(traffic.NUMBER * p.numel() for p in self.parameters)

    def sent(self):
        return traffic.of_step(self.of_call, self.ranks.rank, self.ranks.n, self.sizes())


class Flat(AfterBackward):
    def sizes(self):
        return (traffic.NUMBER * self.flat.numel(),)

    def meet(self):
        distributed.all_reduce(self.flat)


class TensorByTensor(AfterBackward):
    def meet(self):
        for p in self.parameters:
            distributed.all_reduce(p.grad)


class ThroughRoot(AfterBackward):
    """Tensor by tensor rank 0 gathers the gradients, adds them in the order of ranks and hands out the
    sum, which its scatter wants once for each rank."""

    source, of_call = "formula: gloo's gather and scatter", staticmethod(traffic.through_root)

    def __init__(self, net, inputs, ranks):
        super().__init__(net, inputs, ranks)
        n, largest = ranks.n if ranks.rank == 0 else 0, max(p.numel() for p in self.parameters)
        self.slots = [torch.empty(largest) for _ in range(n)]

    def meet(self):
        for p in self.parameters:
            slots = [slot[:p.numel()].view(p.shape) for slot in self.slots]
            distributed.gather(p.grad, slots or None)
            for slot in slots[1:]:
                slots[0] += slot
            distributed.scatter(p.grad, slots[:1] * self.ranks.n or None)


def check_first_cap(ddp, first_mib, cap_mib):
    """Since it has this attribute, DistributedDataParallel takes a cap that is given for that of the
    first bucket too; of its preset, which is then not given, it does not."""
    if not getattr(ddp, "bucket_bytes_cap_default", True) and first_mib != cap_mib:
        raise Failure(UNAVAILABLE, f"no sync.first_cap_mib {first_mib:g} beside sync.cap_mib "
                                   f"{cap_mib:g} in torch {torch.__version__}, whose "
                                   "DistributedDataParallel has one cap for all buckets, except "
                                   f"beside sync.cap_mib {PRESET_CAP_MIB:g}")


def caps(cap_mib):
    return {} if cap_mib == PRESET_CAP_MIB else {"bucket_cap_mb": cap_mib}


class Buckets(AfterBackward):
    """DistributedDataParallel, which sums buckets of gradients while backward goes on and divides them
    by the number of ranks. Its option broadcast_buffers is off: running statistics of batch norm matter
    when rank 0's are evaluated, so that no more crosses the network than with the other strategies."""

    def __init__(self, net, inputs, ranks):
        first_mib, cap_mib = inputs.number("sync.first_cap_mib"), inputs.number("sync.cap_mib")
        distributed._DEFAULT_FIRST_BUCKET_BYTES = int(MIB * first_mib)
        self.ranks, self.divisor = ranks, ranks.n
        self.forward = DistributedDataParallel(net, broadcast_buffers=False, **caps(cap_mib))
        check_first_cap(self.forward, first_mib, cap_mib)
        self.forward._set_ddp_runtime_logging_sample_rate(1)
        self.parameters = list(net.parameters())

    def forget(self):
        for p in self.parameters:
            p.grad = None

    def meet(self):
        """They have, inside of backward."""

    def times(self, waited_ns):
        self.forward.logger.set_runtime_stats_and_log()
        self.log = self.forward._get_ddp_logging_data()
        total_ns = self.log["backward_comm_time"]
        return total_ns, total_ns - self.log["backward_compute_comm_overlap_time"]

    def sizes(self):
        """The first step, which finds out in which order gradients are ready, has other buckets."""
        rebuilt = self.log.get("has_rebuilt_buckets")
        sizes = self.log["rebuilt_bucket_sizes" if rebuilt else "bucket_sizes"]
        return tuple(int(size) for size in sizes.split(", "))


STRATEGIES = {"none": None, "allreduce": Flat, "allreduce_layer": TensorByTensor,
              "gather_scatter": ThroughRoot, "bucketed": Buckets}


def of_run(inputs, ranks):
    """What makes the sums of a net; None: its ranks do not exchange gradients."""
    strategy = STRATEGIES[inputs.option("sync.strategy")]
    return (lambda net: strategy(net, inputs, ranks)) if strategy and ranks.n > 1 else None
