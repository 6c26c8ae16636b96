"""Gradient synchronisation, one class per strategy that PyTorch users have."""
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from torch_peer import traffic
from torch_peer.failure import UNAVAILABLE, Failure

MIB = 1 << 20
PRESET_CAP_MIB = 25  # default of DistributedDataParallel


class AfterBackward:
    """Sums gradients of `weights` after backward, in fp32 and in one or several calls. Gradients are views of
    one buffer. The loss is divided by the images of all ranks, so gradients are summed, not averaged."""

    divisor = 1  # factor by which sums are divided
    source, of_call = "formula: gloo's ring", staticmethod(traffic.ring)

    def __init__(self, net, weights, inputs, ranks):
        self.ranks, self.forward = ranks, net
        self.parameters = weights
        self.flat = torch.zeros(sum(p.numel() for p in self.parameters))
        begin = 0
        for p in self.parameters:
            p.grad = self.flat[begin:begin + p.numel()].view(p.shape)
            begin += p.numel()

    def forget(self):
        """Zeroes the gradients, since backward adds to them."""
        self.flat.zero_()

    def times(self, waited_ns):
        """Returns the communication time of the last step, and the part not hidden by computing."""
        return waited_ns, waited_ns

    def sizes(self):
        """Returns the bytes of each call of the last step."""
        return tuple(traffic.NUMBER * p.numel() for p in self.parameters)

    def sent(self):
        return traffic.of_step(self.of_call, self.ranks.rank, self.ranks.n, self.sizes())


class Flat(AfterBackward):
    def sizes(self):
        return (traffic.NUMBER * self.flat.numel(),)

    def sum_gradients(self):
        distributed.all_reduce(self.flat)


class TensorByTensor(AfterBackward):
    def sum_gradients(self):
        for p in self.parameters:
            distributed.all_reduce(p.grad)


class ThroughRoot(AfterBackward):
    """Sums tensor by tensor: rank 0 gathers the gradients, adds them in the order of ranks and scatters one
    copy of the sum to each rank."""

    source, of_call = "formula: gloo's gather and scatter", staticmethod(traffic.through_root)

    def __init__(self, net, weights, inputs, ranks):
        super().__init__(net, weights, inputs, ranks)
        n, largest = ranks.n if ranks.rank == 0 else 0, max(p.numel() for p in self.parameters)
        self.slots = [torch.empty(largest) for _ in range(n)]

    def sum_gradients(self):
        for p in self.parameters:
            slots = [slot[:p.numel()].view(p.shape) for slot in self.slots]
            distributed.gather(p.grad, slots or None)
            for slot in slots[1:]:
                slots[0] += slot
            distributed.scatter(p.grad, slots[:1] * self.ranks.n or None)


def check_first_cap(ddp, first_mib, cap_mib):
    """Rejects a first cap that DistributedDataParallel would ignore: versions with this attribute use an
    explicit cap for the first bucket too. The default cap is not passed, so it allows a first cap."""
    if not getattr(ddp, "bucket_bytes_cap_default", True) and first_mib != cap_mib:
        raise Failure(UNAVAILABLE, f"sync.first_cap_mib {first_mib:g} is not supported with "
                                   f"sync.cap_mib {cap_mib:g} in torch {torch.__version__}, whose "
                                   "DistributedDataParallel then has one cap for all buckets. Use "
                                   f"sync.cap_mib {PRESET_CAP_MIB:g} or equal caps")


def caps(cap_mib):
    return {} if cap_mib == PRESET_CAP_MIB else {"bucket_cap_mb": cap_mib}


class Buckets(AfterBackward):
    """DistributedDataParallel: sums buckets of gradients during backward and divides them by the number of
    ranks. broadcast_buffers is off, so that no more is sent than by other strategies: batch-norm
    statistics are only needed on rank 0, for evaluation."""

    def __init__(self, net, weights, inputs, ranks):
        first_mib, cap_mib = inputs.number("sync.first_cap_mib"), inputs.number("sync.cap_mib")
        distributed._DEFAULT_FIRST_BUCKET_BYTES = int(MIB * first_mib)
        self.ranks, self.divisor = ranks, ranks.n
        self.forward = DistributedDataParallel(net, broadcast_buffers=False, **caps(cap_mib))
        check_first_cap(self.forward, first_mib, cap_mib)
        self.forward._set_ddp_runtime_logging_sample_rate(1)
        self.parameters = weights

    def forget(self):
        for p in self.parameters:
            p.grad = None

    def sum_gradients(self):
        """Does nothing: backward has summed the gradients."""

    def times(self, waited_ns):
        self.forward.logger.set_runtime_stats_and_log()
        self.log = self.forward._get_ddp_logging_data()
        total_ns = self.log["backward_comm_time"]
        return total_ns, total_ns - self.log["backward_compute_comm_overlap_time"]

    def sizes(self):
        """Returns the bytes of each bucket. Buckets are rebuilt after the first step, in order of readiness."""
        rebuilt = self.log.get("has_rebuilt_buckets")
        sizes = self.log["rebuilt_bucket_sizes" if rebuilt else "bucket_sizes"]
        return tuple(int(size) for size in sizes.split(", "))


STRATEGIES = {"none": None, "allreduce": Flat, "allreduce_layer": TensorByTensor,
              "gather_scatter": ThroughRoot, "bucketed": Buckets}


def of_run(inputs, ranks):
    """Returns a function from a net and its fp32 weights to their sums, or None if ranks do not exchange gradients."""
    strategy = STRATEGIES[inputs.option("sync.strategy")]
    return (lambda net, weights: strategy(net, weights, inputs, ranks)) if strategy and ranks.n > 1 else None
