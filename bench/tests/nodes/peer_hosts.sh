#!/usr/bin/env bash
# Tests the PyTorch peer on hosts of ci/netns.sh: its ranks communicate over the hosts' interfaces, which carry the counted
# bytes, as many as train_cnn's. A killed or unreachable rank ends the launch.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

ci/netns.sh probe >"$tmp/probe.log" 2>&1
case $? in
0) check "hosts can be had" true ;;
3)
    cat "$tmp/probe.log"
    lacks "the PyTorch peer on emulated hosts" netns
    finish
    ;;
*) check "hosts can be had" sh -c "cat '$tmp/probe.log'; exit 1" ;;
esac
peer=$build/peer_torch
if ! "$peer" --check --model softmax_784 >"$tmp/answer.txt" 2>&1; then
    sed 's/^/# /' "$tmp/answer.txt"
    lacks "the PyTorch peer on emulated hosts" torch
    finish
fi

cat >"$tmp/hosts.yaml" <<'END'
name: hosts
site: emulated
model: keras_690k
data: {set: digits, samples: 480}
train: {optimizer: adam, lr: 1e-3, global_batch: 24}
ranks: 3
nodes: 3
cases:
  - {label: our ring, sync.strategy: ring}
  - {label: a sum a tensor, workload: peer_torch, sync.strategy: allreduce_layer}
  - {label: buckets, workload: peer_torch, sync.strategy: bucketed}
  - {label: our gather, sync.strategy: gather_scatter}
  - {label: gather, workload: peer_torch, sync.strategy: gather_scatter}
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 2, steps: 40, launches: 1..1}}
figures: []
END

# prints the case and cells of columns
cells() { # columns
    python3 - "$tmp/out/hosts/latest/summary.csv" "$@" <<'PY'
import csv, sys
with open(sys.argv[1], newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        print(row["case"].replace(" ", "_"), *(row[name] or "-" for name in sys.argv[2:]))
PY
}

runs_on_hosts() {
    "$scalebench" run "$tmp/hosts.yaml" --out "$tmp/out" || return 1
    cells status nodes weights_equal flags || return 1
    [ "$(cells status nodes | cut -d' ' -f2- | sort -u)" = "ok 3" ] && [ "$(cells status | wc -l)" -eq 5 ]
}
check "three hosts train together, every way" runs_on_hosts

# For a gradient of n = 2,762,360 bytes a ring sends 4/3 n per rank, gather and scatter 4 n over three ranks. Headers (66 of
# 1514 bytes) and acknowledgements are below a tenth.
carries_what_is_counted() {
    cells bytes_wire bytes_nic | tee /dev/stderr | awk '
        { n = 2762360 * 4 / 3; if (!($2 > 0.999 * n && $2 < 1.001 * n && $3 >= $2 && $3 < 1.1 * $2)) wrong = 1 }
        END { exit wrong || NR != 5 }'
}
check "interfaces carry the bytes that are counted, of PyTorch as of ours" carries_what_is_counted

# Rank 0 receives the gradients of the others; they receive the sum.
root_has_most() {
    cells bytes_nic_rx bytes_nic_rx_worker | tee /dev/stderr | awk '
        { root = worker = 2762360 * 4 / 3; if ($1 ~ /gather/) { root = 2 * 2762360; worker = 2762360 }
          if (!($2 >= root && $2 < 1.1 * root && $3 >= worker && $3 < 1.1 * worker)) wrong = 1 }
        END { exit wrong || NR != 5 }'
}
check "the root of a gather receives for all" root_has_most

# Calls: one per tensor (12); one per bucket (1 MiB and the rest); a gather and a scatter per tensor.
calls_are_of_tensors_and_buckets() {
    cells calls | grep -E '^(a_sum|buckets|gather)' | tee /dev/stderr |
        cmp - <(printf '%s\n' "a_sum_a_tensor 12" "buckets 2" "gather 24")
}
check "the peer makes one call per tensor or bucket" calls_are_of_tensors_and_buckets

train() { # options
    ci/netns.sh --hosts 2 run "$peer" --model softmax_784 --data.set digits --data.samples 600 \
        --train.global_batch 20 --run time --measure.time.steps 200000 --nic eth0 "$@"
}

ranks_of() { # word of the command line, rank
    local pid
    for pid in $(processes "$1"); do
        [[ $(cat "/proc/$pid/comm" 2>/dev/null) == python* ]] &&
            tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "PMI_RANK=$2" && echo "$pid"
    done
}

ends_with_a_rank() {
    local pid folder=$tmp/killed-$RANDOM
    mkdir "$folder"
    train --record "$folder" >"$tmp/killed.log" 2>&1 &
    pid=$!
    until_true [ -s "$folder/rank.0.jsonl" -a -s "$folder/rank.1.jsonl" ] || return 1
    # shellcheck disable=SC2046 # a word a process
    kill -KILL $(ranks_of "$folder" 1) || return 1
    wait "$pid" && return 1
    cat "$tmp/killed.log"
    gone "$folder"
}
check "a rank that is killed ends the launch on all hosts" ends_with_a_rank

# Every host has its own loopback.
says_what_it_cannot_reach() {
    GLOO_SOCKET_IFNAME=lo expect 1 "through lo. Set GLOO_SOCKET_IFNAME to another" train --sync.deadline 3s
}
check "an interface that joins no hosts is named" says_what_it_cannot_reach
finish
