#!/usr/bin/env bash
# Tests the samples of nodes during a launch: rows over time, bytes at interfaces as the strategies' formulas predict, and no
# sampler that outlives its launch.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

columns() { # file below the folder of results, names: joined by blanks
    local file=$1
    shift
    python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(*(row[name] for name in sys.argv[2:]))' "$tmp/out/$file" "$@"
}

# A foreign program whose child works for about two seconds.
cat >"$tmp/worker.sh" <<'END'
#!/usr/bin/env bash
(
    end=$((SECONDS + 2))
    while [ $SECONDS -lt $end ]; do :; done
)
END
chmod +x "$tmp/worker.sh"
cat >"$tmp/foreign.yaml" <<'END'
name: foreign
workload: {command: [./worker.sh]}
measure: {time: {launches: 1..1}, resources: 50ms}
figures: [{kind: resources, y: [cpu_user_pct, resident_mib]}]
END

# The child's use counts. After the program's end nothing can be read.
samples_any_program() {
    "$scalebench" run "$tmp/foreign.yaml" --out "$tmp/out" || return 1
    [ -s "$tmp/out/foreign/latest/resources.svg" ] || return 1
    columns foreign/latest/resources.csv role timed time_s cpu_user_pct cpu_sys_pct resident_mib |
        tee /dev/stderr | awk '
        NF < 6 { next }
        $1 != "root" || $2 != 1 || $3 < 0.05 * NR - 1e-6 || $3 > 0.05 * NR + 1e-6 || $6 <= 0 { bad = 1 }
        { cpu += ($4 + $5) / 100 * 0.05 }
        END { exit bad || NR < 10 || cpu < 0.1 }'
}
# A median over launches is drawn while more than half of them run.
curves_end_with_most_launches() {
    cat >"$tmp/uneven.sh" <<END
#!/usr/bin/env bash
if mkdir "$tmp/one" 2>/dev/null; then sleep 3; else sleep 1; fi
END
    chmod +x "$tmp/uneven.sh"
    printf '%s\n' "name: uneven" "workload: {command: [./uneven.sh]}" "measure: {time: {launches: 3..3}, resources: 100ms}" \
        "figures: [{kind: resources, y: resident_mib}]" >"$tmp/uneven.yaml"
    "$scalebench" run "$tmp/uneven.yaml" --out "$tmp/out" || return 1
    columns uneven/latest/series_resources.csv time_s n | tee /dev/stderr |
        awk '$2 < 2 || $1 > 2 { bad = 1 } END { exit bad || NR < 5 }' &&
        columns uneven/latest/resources.csv time_s | awk '$1 > 2 { long = 1 } END { exit !long }'
}

check "a program that is not ours is sampled" samples_any_program

off_by_itself() {
    "$scalebench" run "$tmp/foreign.yaml" --out "$tmp/off" --set "measure.resources=off figures=[]" || return 1
    [ ! -e "$tmp/off/foreign/latest/resources.csv" ] && [ -z "$(find "$tmp/off" -name 'node.*.jsonl')" ]
}
check "nothing is sampled without measure.resources" off_by_itself

pin() { # options and program
    MPI_LOCALRANKID=0 "$build/pin" --cpus '' "$@"
}

wrong_options_are_explained() {
    expect 2 "--sample fast: expected an interval of at least 0.001 seconds" pin --sample fast --sample-to "$tmp" true &&
        expect 2 "together with --sample-to FOLDER" pin --sample 0.1 true &&
        expect 2 "network interface 'eth99' not found on this node" pin --sample 0.1 --sample-to "$tmp" --nic eth99 true &&
        expect 1 "$tmp/nowhere/node.0.jsonl: cannot be written" pin --sample 0.1 --sample-to "$tmp/nowhere" true &&
        expect 2 "measure.resources = 1ms: allowed 0.01s..60s" "$scalebench" plan "$tmp/foreign.yaml" \
            --set measure.resources=1ms &&
        expect 2 "measure.resources: 'never' is not a time" "$scalebench" plan "$tmp/foreign.yaml" \
            --set measure.resources=never
}
check "wrong options are explained" wrong_options_are_explained

samplers() { # prints the samplers of this test
    pgrep -f -- "--sample-to $tmp"
}

no_sampler() {
    ! samplers
}

# Kills only the rank, so that the sampler must end by itself.
ends_with_its_rank() {
    local pid
    mkdir -p "$tmp/killed"
    pin --sample 0.02 --sample-to "$tmp/killed" sleep 1000 &
    pid=$!
    until_true test -s "$tmp/killed/node.0.jsonl" && samplers || return 1
    until_true pkill -KILL -P "$pid" || kill -KILL "$pid"
    wait "$pid"
    until_true no_sampler
}
check "a sampler ends with the rank that started it" ends_with_its_rank

sed -e 's/^name: foreign/name: stuck/' -e 's/worker/stuck/' "$tmp/foreign.yaml" >"$tmp/stuck.yaml"
printf '#!/bin/sh\nexec sleep 1000\n' >"$tmp/stuck.sh"
chmod +x "$tmp/stuck.sh"

ends_with_its_campaign() {
    local pid
    "$scalebench" run "$tmp/stuck.yaml" --out "$tmp/out" &
    pid=$!
    until_true samplers || return 1
    kill -KILL "$pid"
    wait "$pid"
    until_true no_sampler
}
check "a sampler ends with a campaign that is killed" ends_with_its_campaign

# Programs that wait for their children must not find others.
is_nobodys_child() {
    pin --sample 0.02 --sample-to "$tmp/killed" python3 -c 'import os
try:
    os.wait()
except ChildProcessError:
    print("no child")' | grep "no child" && until_true no_sampler
}
check "a sampler is not its program's child" is_nobodys_child

ci/netns.sh probe >"$tmp/probe.log" 2>&1
case $? in
0) ;;
3)
    cat "$tmp/probe.log"
    lacks "bytes at interfaces" netns
    check "curves over time end with most launches" curves_end_with_most_launches
finish
    exit
    ;;
*) check "hosts can be had" sh -c "cat '$tmp/probe.log'; exit 1" ;;
esac

cat >"$tmp/bytes.yaml" <<'END'
name: bytes
site: {kind: emulated, hosts: 4}
model: keras_690k
data: {set: digits, samples: 2000}
train: {global_batch: 64}
compute: {kind: replay, rate: 40}
ranks_per_node: 1
matrix:
  nodes: [2, 4]
  sync.strategy: [allreduce, recursive_doubling, ring, reduce_bcast, gather_scatter]
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 2, steps: 12, launches: 1..1}, resources: 20ms}
figures: [{kind: resources, y: [received_mb, sent_mb]}]
END

# For n bytes of gradient, each rank of a ring sends and receives 2 (p-1)/p n, as in MPICH's sum of long vectors
# (reduce-scatter and allgather); with recursive doubling n lg p. With linear gather and scatter the root receives and sends
# (p-1) n, each worker n.
#
# MPICH reduces long vectors to a root by a reduce-scatter, in which every rank exchanges (p-1)/p n, and a gather
# along a binomial tree: (p-1)/p n to the root, half of n from rank 1, which has brought it n/4 from rank 3. Up to
# seven ranks get the sum along a binomial tree, lg p times n from the root. Of four then rank 1 receives most,
# (3/4 + 1/4 + 1) n, and rank 2 sends most, (3/4 + 1/4) n and n to rank 3; of two rank 1 is the only one.
#
# Interfaces also count headers (66 bytes per packet of up to 64 KiB) and acknowledgements: less than 1 % of such messages.
# The tolerance of 3 % includes control messages.
bytes_are_those_of_the_formulas() {
    "$scalebench" run "$tmp/bytes.yaml" --out "$tmp/out" || return 1
    columns bytes/latest/summary.csv strategy nodes bytes_nic_rx bytes_nic_tx bytes_nic_rx_worker \
        bytes_nic_tx_worker | tee /dev/stderr | awk '
        function near(x, share) { return x >= share * n && x <= 1.03 * share * n }
        function all(rx, tx, rx_worker, tx_worker) {
            if (!near($3, rx) || !near($4, tx) || !near($5, rx_worker) || !near($6, tx_worker)) wrong = 1 }
        { n = 4 * 690590; p = $2; part = (p - 1) / p; lg = p == 2 ? 1 : 2 }
        $1 == "allreduce" || $1 == "ring" { all(2 * part, 2 * part, 2 * part, 2 * part) }
        $1 == "recursive_doubling" { all(lg, lg, lg, lg) }
        $1 == "reduce_bcast" { all(2 * part, part + lg, p == 2 ? 1.5 : 2, p == 2 ? 1 : 2) }
        $1 == "gather_scatter" { all(p - 1, p - 1, 1, 1) }
        END { exit wrong || NR != 10 }'
}
check "bytes at interfaces agree with the formulas" bytes_are_those_of_the_formulas

# Sums over the whole intervals of the timed part.
samples_tell_the_same() {
    columns bytes/latest/resources.csv point node role timed received_mb | awk '
        $4 == 1 { last[$1 " " $2 " " $3] = $5 } END { for (i in last) print i, last[i] }' | sort >"$tmp/sums"
    columns bytes/latest/summary.csv point bytes_nic_rx bytes_nic_rx_worker >"$tmp/points"
    awk 'NR == FNR { root[$1] = 12e-6 * $2; worker[$1] = 12e-6 * $3; next }
        { sum = $3 == "root" ? root[$1] : worker[$1]; print $0, sum
          if (!($4 > 0.7 * sum && $4 < 1.1 * sum)) wrong = 1 }
        END { exit wrong || FNR != 30 }' "$tmp/points" "$tmp/sums"
}
check "samples agree with the formulas" samples_tell_the_same

figure_tells_root_and_workers_apart() {
    local run=$tmp/out/bytes/latest
    grep -q "role root" "$run/series_resources.csv" && grep -q "role worker" "$run/series_resources.csv" &&
        grep -q ">time (s)<" "$run/resources.svg" && grep -q ">received (MB)<" "$run/resources.svg"
}
check "the figure separates root and workers" figure_tells_root_and_workers_apart

check "no sampler is left" no_sampler
check "curves over time end with most launches" curves_end_with_most_launches
finish
