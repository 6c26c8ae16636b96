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

# Checks each rank's labels, that every send has a receive of its tag and size, and that no rank waits for ever.
goal_is_sound() {
    python3 - "$@" <<'END'
import collections, re, sys
for path in sys.argv[1:]:
    kinds, needs, sends, receives, rank, ranks = {}, collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list), None, 0
    for line in open(path):
        line = line.strip()
        if m := re.fullmatch(r"num_ranks (\d+)", line):
            ranks = int(m[1])
        elif m := re.fullmatch(r"rank (\d+) {", line):
            rank = int(m[1])
        elif m := re.fullmatch(r"(\w+) requires (\w+)", line):
            assert (rank, m[1]) in kinds and (rank, m[2]) in kinds, line
            needs[rank, m[1]].append((rank, m[2]))
        elif m := re.fullmatch(r"(\w+): calc (\d+)", line):
            assert (rank, m[1]) not in kinds, line
            kinds[rank, m[1]] = "calc"
        elif m := re.fullmatch(r"(\w+): (send|recv) ([1-9]\d*)b (?:to|from) (\d+) tag (\d+)", line):
            assert (rank, m[1]) not in kinds and int(m[4]) < ranks and int(m[4]) != rank, line
            kinds[rank, m[1]] = m[2]
            if m[2] == "send":
                sends[rank, int(m[4]), int(m[5])].append((m[1], m[3]))
            else:
                receives[int(m[4]), rank, int(m[5])].append((m[1], m[3]))
        else:
            assert line in ("", "}"), line
    assert ranks > 1 and rank == ranks - 1 and sends.keys() == receives.keys()
    for (source, target, tag), sent in sends.items():
        received = receives[source, target, tag]
        assert [size for _, size in sent] == [size for _, size in received], (path, source, target, tag)
        for (send, _), (receive, _) in zip(sent, received):
            needs[target, receive].append((source, send))
    waits, ready, done, after = {k: len(needs[k]) for k in kinds}, [k for k in kinds if not needs[k]], 0, collections.defaultdict(list)
    for k, before in needs.items():
        for b in before:
            after[b].append(k)
    while ready:
        done += 1
        for k in after[ready.pop()]:
            waits[k] -= 1
            if waits[k] == 0:
                ready.append(k)
    assert done == len(kinds), f"{path}: {len(kinds) - done} of {len(kinds)} operations never begin"
    print(path, ranks, "ranks,", sum(map(len, sends.values())), "messages")
END
}

messages_match_in_goal() {
    export_points --format goal --set "$every_strategy" --set "$small" && goal_is_sound "$tmp"/traces/*/trace.goal
}

# The checks above fail for a receive of another size.
other_sizes_are_found() {
    export_points --format goal --point 1 --set "$small" || return 1
    sed '0,/recv [0-9]*b/s//recv 1b/' "$tmp/traces/1/trace.goal" >"$tmp/torn.goal"
    ! goal_is_sound "$tmp/torn.goal"
}

every_strategy='matrix.sync.strategy=[ring,rabenseifner,recursive_doubling,tree,gather_scatter,allreduce,allreduce_layer,bucketed,fusion,reduce_bcast,fixed_order,hierarchical,leader,zero1,zero2,zero3,delayed,local_sgd,gossip,adasum,param_server]'
in_memory='ranks=8 nodes=1 matrix.sync.strategy=[shm,shm_zero1,shm_zero2,shm_zero3]'
small='model=softmax_784 ranks=6 nodes=3 train.global_batch=96'

check "GOAL: each send has its receive" messages_match_in_goal
check "GOAL: a receive of another size is found" other_sizes_are_found
check "a point that does not exist" expect 2 "export: --point must be a number from 1 to 5, found '6'" \
    "$scalebench" export "$tmp/flat.yaml" --point 6
check "a network that is cut" expect 2 "expected parallel.pipeline = 1 and parallel.tensor = 1" \
    "$scalebench" export "$tmp/flat.yaml" --set "matrix.sync.strategy=[ring] parallel.pipeline=2 train.accumulate=2"
check "another program" expect 2 "runs another program" "$scalebench" export configs/examples/pi.yaml

if command -v smpirun >/dev/null; then
    check "SimGrid agrees at 16 ranks" agrees_with_simgrid 10
    check "SimGrid agrees at 64 ranks" agrees_with_simgrid 10 --set "ranks=64 nodes=64"
    check "SimGrid agrees on hosts of four ranks" agrees_with_simgrid 10 --set "ranks=64 nodes=16"
    # The longest differences are named in comm/README.md.
    check "SimGrid agrees about every strategy" agrees_with_simgrid 25 --set "nodes=4" --set "$every_strategy"
    check "SimGrid agrees about shared memory" agrees_with_simgrid 10 --set "$in_memory"
    check "half the rate takes twice as long in SimGrid" rate_moves_simgrid
else
    lacks "SimGrid agrees" smpirun
fi
finish
