#!/usr/bin/env bash
# Tests `scalebench export`. SimGrid replays every trace and takes as long as scalebench's own model predicts: within 10 %
# for five strategies, and within 25 % for all others, whose differences comm/README.md names. In GOAL each send has its
# receive.
# cores: 1
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/flat.yaml" <<'END'
name: flat
model: keras_690k
data: {set: digits}
train: {optimizer: sgd, lr: 0.1, global_batch: 1024}
site: slurm
ranks: 16
nodes: 16
matrix: {sync.strategy: [ring, rabenseifner, recursive_doubling, tree, gather_scatter]}
measure: {time: {launches: 1}}
END

export_points() { # options of export
    rm -rf "$tmp/traces"
    "$scalebench" export "$tmp/flat.yaml" --output "$tmp/traces" "$@" >"$tmp/rows.csv"
}

# ---- SimGrid ----

# Prints the simulated seconds of an exported point. Its network model shares links fairly and has no correction factors.
simulate() { # number, ranks
    (cd "$tmp/traces/$1" && smpirun -np "$2" -platform platform.xml -hostfile hostfile -replay traces \
        --cfg=network/model:CM02 --cfg=network/crosstraffic:no --cfg=network/TCP-gamma:0 </dev/null 2>"$tmp/simgrid.log")
    sed -n 's/.*Simulation time //p' "$tmp/simgrid.log"
}

# Compares the communication time of every exported point with SimGrid's.
agrees_with_simgrid() { # largest difference (%), options of export
    local most=$1 number label ranks compute sweep simulated compared=0
    shift
    export_points "$@" || return 1
    while IFS=, read -r number label ranks _ _ compute sweep _; do
        simulated=$(simulate "$number" "$ranks")
        [ -n "$simulated" ] || { echo "$label"; cat "$tmp/simgrid.log"; return 1; }
        awk -v name="$label, $ranks ranks" -v own="$sweep" -v compute="$compute" -v other="$simulated" -v most="$most" 'BEGIN {
            own -= compute
            other -= compute
            percent = 100 * (own / other - 1)
            printf "%s: %.3f ms, SimGrid %.3f ms, %+.1f %%\n", name, 1e3 * own, 1e3 * other, percent
            exit !(percent <= most && percent >= -most) }' || return 1
        compared=$((compared + 1))
    done < <(tail -n +2 "$tmp/rows.csv")
    [ "$compared" -gt 0 ]
}

# Halves the rate of the platform: communication of long messages takes nearly twice as long.
rate_moves_simgrid() {
    local compute once slow
    export_points --point 2 || return 1
    compute=$(cut -d, -f6 <"$tmp/rows.csv" | tail -n 1)
    once=$(simulate 2 16)
    sed -i 's/bw="125000000Bps"/bw="62500000Bps"/' "$tmp/traces/2/platform.xml" && slow=$(simulate 2 16)
    echo "computing $compute s, in all $once s, at half the rate $slow s"
    awk -v compute="$compute" -v once="$once" -v slow="$slow" 'BEGIN {
        ratio = (slow - compute) / (once - compute)
        exit !(ratio > 1.9 && ratio < 2) }'
}

# ---- GOAL ----

# Checks each rank's labels, that every send has a receive of its tag and size, and that no operation waits for ever. Prints
# the time (s) of the longest chain of operations, if each message takes 50 us and 8 ns per byte, as on hosts of a cluster.
goal_is_sound() { # trace
    python3 - "$1" <<'END'
import collections, re, sys

path = sys.argv[1]
takes = {}  # by (rank, label): nanoseconds of a calc, or of a message
needs = collections.defaultdict(list)
ends = collections.defaultdict(lambda: ([], []))  # by sender, receiver and tag: sends and receives
rank, ranks = None, 0
for line in map(str.strip, open(path)):
    if m := re.fullmatch(r"num_ranks (\d+)", line):
        ranks = int(m[1])
    elif m := re.fullmatch(r"rank (\d+) {", line):
        rank = int(m[1])
    elif m := re.fullmatch(r"(\w+) requires (\w+)", line):
        assert (rank, m[1]) in takes and (rank, m[2]) in takes, line
        needs[rank, m[1]].append((rank, m[2]))
    elif m := re.fullmatch(r"(\w+): calc (\d+)(?: cpu 1)?", line):
        assert (rank, m[1]) not in takes, line
        takes[rank, m[1]] = int(m[2])
    elif m := re.fullmatch(r"(\w+): (send|recv) ([1-9]\d*)b (?:to|from) (\d+) tag (\d+)", line):
        peer, sends = int(m[4]), m[2] == "send"
        assert (rank, m[1]) not in takes and peer < ranks and peer != rank, line
        takes[rank, m[1]] = 50000 + 8 * int(m[3]) if sends else 0
        ends[(rank, peer, int(m[5])) if sends else (peer, rank, int(m[5]))][not sends].append(((rank, m[1]), m[3]))
    else:
        assert line in ("", "}"), line
assert ranks > 1 and rank == ranks - 1
for pair, (sends, receives) in ends.items():
    assert [size for _, size in sends] == [size for _, size in receives], (path, pair)
    for (send, _), (receive, _) in zip(sends, receives):
        needs[receive].append(send)
after = collections.defaultdict(list)
for k, before in needs.items():
    for b in before:
        after[b].append(k)
waits, begins, done, latest = {k: len(needs[k]) for k in takes}, dict.fromkeys(takes, 0), 0, 0
ready = [k for k in takes if not needs[k]]
while ready:
    k = ready.pop()
    done, end = done + 1, begins[k] + takes[k]
    latest = max(latest, end)
    for n in after[k]:
        begins[n], waits[n] = max(begins[n], end), waits[n] - 1
        if waits[n] == 0:
            ready.append(n)
assert done == len(takes), f"{path}: {len(takes) - done} of {len(takes)} operations never begin"
print(latest / 1e9)
END
}

messages_match_in_goal() {
    local trace
    export_points --format goal --set "$every_strategy" --set "$small" || return 1
    for trace in "$tmp"/traces/*/trace.goal; do
        goal_is_sound "$trace" || return 1
    done
}

# The checks above fail for a receive of another size.
other_sizes_are_found() {
    export_points --format goal --point 1 --set "$small" || return 1
    sed '0,/recv [0-9]*b/s//recv 1b/' "$tmp/traces/1/trace.goal" >"$tmp/torn.goal"
    ! goal_is_sound "$tmp/torn.goal"
}

# Each rank sends one message at a time, so that the longest chain takes as long as the sweep, apart from rounding to ns.
# Sums of the buckets leave during the backward pass.
chains_take_as_long_as_the_sweep() {
    local number label sweep chain compared=0
    export_points --format goal --set "ranks=8 nodes=8 sync.cap_mib=0.5 sync.first_cap_mib=0.5" \
        --set "matrix.sync.strategy=[ring,rabenseifner,recursive_doubling,allreduce,bucketed]" --set "sync.segment=16MiB" || return 1
    while IFS=, read -r number label _ _ _ _ sweep _; do
        chain=$(goal_is_sound "$tmp/traces/$number/trace.goal") || return 1
        echo "$label: longest chain $chain s, sweep $sweep s"
        awk -v chain="$chain" -v sweep="$sweep" 'BEGIN { exit !(chain / sweep < 1 + 1e-6 && sweep / chain < 1 + 1e-6) }' || return 1
        compared=$((compared + 1))
    done < <(tail -n +2 "$tmp/rows.csv")
    [ "$compared" -eq 5 ]
}

every_strategy='matrix.sync.strategy=[ring,rabenseifner,recursive_doubling,tree,gather_scatter,allreduce,allreduce_layer,bucketed,fusion,reduce_bcast,fixed_order,hierarchical,leader,zero1,zero2,zero3,delayed,local_sgd,gossip,adasum,param_server]'
in_memory='ranks=8 nodes=1 matrix.sync.strategy=[shm,shm_zero1,shm_zero2,shm_zero3]'
small='model=softmax_784 ranks=6 nodes=3 train.global_batch=96'

check "GOAL: each send has its receive" messages_match_in_goal
check "GOAL: the longest chain takes as long as the sweep" chains_take_as_long_as_the_sweep
check "GOAL: a receive of another size is found" other_sizes_are_found
check "a point that does not exist" expect 2 "export: --point must be a number from 1 to 5, found '6'" \
    "$scalebench" export "$tmp/flat.yaml" --point 6
check "a network that is cut" expect 2 "expected parallel.pipeline = 1 and parallel.tensor = 1" \
    "$scalebench" export "$tmp/flat.yaml" --set "matrix.sync.strategy=[ring] parallel.pipeline=2 train.accumulate=2"
check "leaves that do not divide the hosts" expect 2 "export: --leaf-hosts = 3 must divide the 16 hosts of point 'ring'" \
    "$scalebench" export "$tmp/flat.yaml" --leaf-hosts 3 --output "$tmp/traces"
check "links that do not divide a leaf" expect 2 "export: --oversubscription = 3 must divide --leaf-hosts, which is 4" \
    "$scalebench" export "$tmp/flat.yaml" --leaf-hosts 4 --oversubscription 3
check "an oversubscription without leaves" expect 2 "export: --oversubscription needs leaf switches. Add --leaf-hosts N" \
    "$scalebench" export "$tmp/flat.yaml" --oversubscription 2
check "another program" expect 2 "the point does not run train_cnn" "$scalebench" export configs/examples/pi.yaml

if command -v smpirun >/dev/null; then
    check "SimGrid agrees at 16 ranks" agrees_with_simgrid 10
    check "SimGrid agrees at 64 ranks" agrees_with_simgrid 10 --set "ranks=64 nodes=64"
    check "SimGrid agrees on hosts of four ranks" agrees_with_simgrid 10 --set "ranks=64 nodes=16"
    check "SimGrid agrees on two leaf switches" agrees_with_simgrid 10 --leaf-hosts 8 --oversubscription 4
    check "SimGrid agrees on four leaf switches" agrees_with_simgrid 10 --leaf-hosts 16 --oversubscription 4 --set "ranks=64 nodes=64"
    # The longest differences are named in comm/README.md.
    check "SimGrid agrees about every strategy" agrees_with_simgrid 25 --set "nodes=4" --set "$every_strategy"
    check "SimGrid agrees about shared memory" agrees_with_simgrid 10 --set "$in_memory"
    check "half the rate takes twice as long in SimGrid" rate_moves_simgrid
else
    lacks "SimGrid agrees" smpirun
fi
finish
