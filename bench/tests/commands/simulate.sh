#!/usr/bin/env bash
# Tests site: simulated. Steps take the time of the formula; they change with the rate, the delay, the bytes and the links
# of leaf switches; calls and bytes are those of real ranks; and a launch can be repeated.
# cores: 2
set -u
. bench/tests/lib/tap.sh

export SCALEBENCH_OUT=$tmp/out
cat >"$tmp/ring.yaml" <<'END'
name: ring
model: keras_690k
data: {set: digits}
train: {optimizer: sgd, lr: 0.1, global_batch: 1024}
site: {kind: simulated, rate: 1gbit}
compute: {kind: replay, rate: 40}
sync: {strategy: ring}
ranks: 8
nodes: 8
link: none
measure: {time: {launches: 1, steps: 5, warmup_steps: 1}, replay: 1}
figures: [time]
END

# Runs a spec anew and leaves its summary in $summary.
run_anew() { # spec, options
    local spec=$1
    shift
    "$scalebench" run "$tmp/$spec.yaml" --fresh "$@" >"$tmp/run.log" 2>&1 || { cat "$tmp/run.log"; return 1; }
    summary=$SCALEBENCH_OUT/$spec/latest/summary.csv
}

# Prints the summary without texts that have commas.
unquoted() {
    sed 's/"[^"]*"//g' "$summary"
}

# Prints a column of the summary, of the first point or of the point with this label.
value() { # column, label
    awk -F, -v column="$1" -v label="${2:-}" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        label == "" || $at["label"] == label { print $at[column]; exit }' <(unquoted)
}

near() { # value, expected value, largest difference (%)
    echo "found $1, expected $2 within $3 %"
    awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = 100 * (a / b - 1); exit !(a > 0 && d <= most && d >= -most) }'
}

# A ring over p ranks sends 2 (p - 1) messages of n / p numbers: alpha 2 us, beta of the rate. Each rank adds p - 1 parts,
# at 0.2 ns a byte.
ring_ms() { # ranks, numbers, rate (bit/s), delay (s)
    awk -v p="$1" -v n="$2" -v rate="$3" -v delay="$4" 'BEGIN {
        part = 4 * n / p
        print 1e3 * (2 * (p - 1) * (2e-6 + delay + part * 8 / rate) + (p - 1) * part * 0.2e-9) }'
}

takes_the_time_of_the_formula() {
    run_anew ring || return 1
    near "$(value comm_exposed_ms)" "$(ring_ms 8 "$(value params)" 1e9 0)" 3 || return 1
    near "$(value comm_replay_ms)" "$(value comm_exposed_ms)" 1
}

computes_at_the_rate() {
    local flops images
    flops=$(value flops_per_image)
    images=$(value batch_per_rank)
    near "$(awk -v a="$(value forward_ms)" -v b="$(value backward_ms)" 'BEGIN { print a + b }')" \
        "$(awk -v f="$flops" -v n="$images" 'BEGIN { print 1e3 * f * n / 40e9 }')" 0.1
}

# 1024 images on 7 ranks: 146 each are trained, and 2 are dropped.
counts_trained_images() {
    run_anew ring --set "ranks=7 nodes=7 train.remainder=drop" || return 1
    [ "$(value global_batch) $(value batch_per_rank)" = "1022 146" ] &&
        near "$(value images_per_s)" "$(awk -v ms="$(value step_ms_median)" 'BEGIN { print 1022e3 / ms }')" 0.01 &&
        near "$(value epoch_timed_s)" "$(awk -v ms="$(value step_ms_median)" 'BEGIN { print 60000 / 1024 * ms / 1e3 }')" 0.01
}

changes_with_the_link() {
    run_anew ring --set site.rate=500mbit || return 1
    near "$(value comm_exposed_ms)" "$(ring_ms 8 "$(value params)" 5e8 0)" 3 || return 1
    run_anew ring --set site.delay=1ms || return 1
    near "$(value comm_exposed_ms)" "$(ring_ms 8 "$(value params)" 1e9 1e-3)" 3
}

# 10 Gbit/s Ethernet as stated in links.def: 20 us per message, 0.8497 ns per byte.
takes_a_link_by_name() {
    run_anew ring --set "site={kind: simulated, link: ethernet_10gbit}" || return 1
    near "$(value comm_exposed_ms)" "$(ring_ms 8 "$(value params)" 9.4151e9 18e-6)" 3 || return 1
    [ "$(value link)" = ethernet_10gbit ] &&
        expect 0 "alpha 0.6953 (0.6848 to 0.7206) us, beta 0.1205 (0.1185 to 0.1222) ns per byte" "$scalebench" explain site.link &&
        expect 0 "infiniband_edr" "$scalebench" list links
}

# The ring of 4-byte numbers passes one link of each leaf per round. Recursive doubling crosses leaves with all ranks at once.
# Launches draw times of messages if link.csv has their scatter; otherwise all launches are equal.
scatters_with_its_link() {
    printf '%s\n' coefficient,value,lo,hi alpha_us,1,, beta_ns_per_byte,.1,, gamma_ns_per_byte,.1,, ranks,2,, nodes,1,, \
        host,other,, date,2026-11-29,, >"$tmp/even.csv"
    { cat "$tmp/even.csv" && printf 'pace_%s,%s,,\n' 0 .9 25 .95 50 1 75 1.05 90 1.2 99 2 100 4; } >"$tmp/scattered.csv"
    run_anew ring --set "nodes=1 measure.time.launches=6..6 link=$tmp/even.csv" || return 1
    [ "$(value step_ms_lo)" = "$(value step_ms_hi)" ] || return 1
    local even
    even=$(value step_ms_median)
    run_anew ring --set "nodes=1 measure.time.launches=6..6 link=$tmp/scattered.csv" || return 1
    awk -v lo="$(value step_ms_lo)" -v hi="$(value step_ms_hi)" -v even="$even" \
        'BEGIN { print even, lo, hi; exit !(lo > even && hi > lo && hi < 1.5 * even) }' || return 1
    { cat "$tmp/even.csv" && echo alpha_us,2,,; } >"$tmp/two.csv"
    expect 2 "two.csv: expected one row for each coefficient of a link, found 2 rows 'alpha_us'" "$scalebench" plan "$tmp/ring.yaml" --set "link=$tmp/two.csv"
}

changes_with_leaves() {
    local full
    run_anew ring --set "sync.strategy=recursive_doubling site.leaf_hosts=4" || return 1
    full=$(value comm_exposed_ms)
    run_anew ring --set "sync.strategy=recursive_doubling site.leaf_hosts=4 site.oversubscription=4" || return 1
    near "$(value comm_exposed_ms)" "$(awk -v full="$full" 'BEGIN { print full * (2 + 4) / 3 }')" 10
}

# Emulated hosts send 1448 of 1514 bytes of a packet, and 2.097152 ms at the rate at once. Tokens saved while a rank adds hide
# the additions.
has_the_interfaces_of_emulated_hosts() {
    run_anew ring --set site.model=emulated || return 1
    near "$(value comm_exposed_ms)" "$(awk -v bytes="$(value params)" 'BEGIN {
        print 1e3 * (2 * 7 * (2e-6 + 4 * bytes / 8 * 8e-9 * 1514 / 1448)) - 2.097152 }')" 0.5
}

# All ranks of a ring wait for a late one. A rank that trains alone delays nobody.
slows_one_rank() {
    local fast
    run_anew ring || return 1
    fast=$(value step_ms_median)
    run_anew ring --set "inject={kind: fixed, sleep: 3ms, ranks: [5], phase: sync}" || return 1
    near "$(value step_ms_median)" "$(awk -v fast="$fast" 'BEGIN { print fast + 3 }')" 0.5 || return 1
    near "$(value inject_ms)" "$(awk 'BEGIN { print 3 / 8 }')" 0.1 || return 1
    near "$(value wait_ms)" "$(awk 'BEGIN { print 3 * 7 / 8 }')" 1
}

is_marked() {
    run_anew ring || return 1
    [ "$(value kind)" = simulated ] && [ "$(value core_h)" = 0 ] && grep -q simulated "$tmp/run.log" &&
        grep -q simulated "$SCALEBENCH_OUT/ring/latest/time.txt" && [ "$(value link)" = "1gbit delay none" ] &&
        grep -q "Simulated points: not validated: no other point" "$tmp/run.log"
}

can_be_repeated() {
    local launch
    launch=$(dirname "$(find "$SCALEBENCH_OUT/ring/latest/" -name simulated.json | sort | head -n 1)")
    cp "$launch/simulated.json" "$tmp/first.json" && rm "$launch/simulated.json" &&
        expect 0 "5 steps on 8 simulated ranks" "$scalebench" simulate "$launch" && cmp "$launch/simulated.json" "$tmp/first.json"
}

tells_a_damaged_file() {
    local launch
    launch=$(dirname "$(find "$SCALEBENCH_OUT/ring/latest/" -name simulated.json | sort | head -n 1)")
    echo '{"step_ms": 0}' >"$launch/simulated.json"
    expect 1 "simulated.json: step_ms: expected a time above 0" "$scalebench" table ring
}

# Real ranks and simulated ranks of every strategy make the same calls and send the same bytes.
cat >"$tmp/both.yaml" <<'END'
name: both
model: lenet_21k
data: {set: digits, samples: 512}
train: {optimizer: sgd, lr: 0.1, global_batch: 128}
ranks: 2
sync: {zero_persist: 0}
cases:
  - label: real
    matrix: {sync.strategy: &strategies [allreduce, allreduce_layer, bucketed, reduce_bcast, gather_scatter, ring, recursive_doubling, rabenseifner, tree, shm, zero1, zero2, zero3, fixed_order, hierarchical, leader, adasum]}
  - label: simulated
    site: simulated
    matrix: {sync.strategy: *strategies}
measure: {time: {launches: 1, steps: 5, warmup_steps: 1}}
figures: [time]
END
sends_what_real_ranks_send() {
    run_anew both || return 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["case"] != "real" && $at["case"] != "simulated" { next }
        $at["strategy"] == "none" { next }
        { key = $at["strategy"]; has[key]++
          all = $at["calls"] " " $at["bytes_payload"] " " $at["bytes_wire"] " " $at["messages_wire"]
          if (key in seen && seen[key] != all) { print key ": " seen[key] " and " all; bad = 1 }
          seen[key] = all }
        END { for (key in has) if (has[key] != 2) { print key ": " has[key] " points"; bad = 1 }
              exit bad || length(has) != 17 }' <(unquoted) || return 1
    # Real and simulated launches name the same variants.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { n[$at["sync_variant"]]++ }
        END { for (v in n) { print v, n[v]; bad = bad || v != "usual" && n[v] != 2 }; exit bad || n["linear"] != 2 }' \
        "$SCALEBENCH_OUT/both/latest/raw.csv"
}

compares_with_what_ran() {
    near "$(value predicted_step_ms "real ring")" "$(value step_ms_median "simulated ring")" 0.001 && [ -z "$(value predicted_step_ms "simulated ring")" ] &&
        grep -q "Simulated points: validated to 2 ranks: errors of [0-9.]* % (median)" "$tmp/run.log" &&
        grep -q "Simulated points (hollow): validated to 2 ranks" "$SCALEBENCH_OUT/both/latest/time.txt"
}

# A run without its launches is simulated again, from the mean times of its calibrations. Each point has a row.
is_simulated_again() {
    local run=$tmp/kept
    mkdir -p "$run" && cp "$SCALEBENCH_OUT"/both/latest/{spec.yaml,summary.csv,manifest.json} "$run" || return 1
    expect 0 "simulated again: validated to 2 ranks: errors of" "$scalebench" simulate --again "$run" || return 1
    "$scalebench" simulate --again "$run" >"$tmp/again"
    [ "$(grep -c '^real ' "$tmp/again")" = 17 ] || return 1
    near "$(awk '/^real ring / { print $(NF - 4) }' "$tmp/again")" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["label"] ~ /^calibration/ { print $at["load_ms"] + $at["forward_ms"] + $at["backward_ms"] + $at["optimizer_ms"] }' <(unquoted))" 5
}

# Simulated cores have no measured peak.
has_utilisation() {
    local mfu hfu
    mfu=$(value mfu_pct "real ring")
    hfu=$(value hfu_pct "real ring")
    echo "mfu $mfu %, hfu $hfu %"
    near "$mfu" "$(awk -v a="$(value gflop_per_s "real ring")" -v b="$(value peak_gflop_per_s "real ring")" 'BEGIN { print 100 * a / b }')" 0.1 &&
        awk -v mfu="$mfu" -v hfu="$hfu" 'BEGIN { exit !(hfu > 0 && hfu <= mfu && hfu <= 105) }' && [ -z "$(value mfu_pct "simulated ring")" ]
}

# With times of real steps, the mean of the slowest of p ranks grows with p.
cat >"$tmp/scatter.yaml" <<'END'
name: scatter
model: lenet_21k
data: {set: digits, samples: 512}
train: {optimizer: sgd, lr: 0.1, batch_per_rank: 16}
site: {kind: simulated, rate: none}
ranks_per_node: 1
scaling: weak
baseline: {ranks: 1}
matrix: {ranks: [1, 64], sync.strategy: [allreduce]}
measure: {time: {launches: 1, steps: 50, warmup_steps: 1}}
figures: [time]
END
waits_for_the_slowest() {
    local compute one many
    run_anew scatter || return 1
    compute=$(value forward_ms "ranks=64 nodes=64")
    one=$(value step_ms_median "ranks=1 nodes=1")
    many=$(value step_ms_median "ranks=64 nodes=64")
    echo "1 rank: $one ms, 64 ranks: $many ms, forward $compute ms, wait $(value wait_ms "ranks=64 nodes=64") ms"
    awk -v one="$one" -v many="$many" -v wait="$(value wait_ms "ranks=64 nodes=64")" 'BEGIN { exit !(many > one && wait > 0) }'
}

has_thousands_of_ranks() {
    run_anew ring --set "ranks=4096 nodes=1024 sync.strategy=rabenseifner train.global_batch=65536" &&
        [ "$(value ranks)" = 4096 ] && [ "$(value nodes)" = 1024 ]
}

# Prints the time (ms) of a cause on the critical path of the ring's launch.
cause() { # its first words
    "$scalebench" simulate "$(dirname "$(grep -rl '"wire_source": "program"' "$SCALEBENCH_OUT/ring/latest/launches")")" --why |
        awk -v cause="$1" 'index($0, cause) == 1 { print $(NF - 2) }'
}

# The causes add up to the step. Twice the rate saves half of the bytes' time, and a late rank's sleep is a cause.
divides_the_step_among_causes() {
    local step bytes
    run_anew ring || return 1
    step=$(value step_ms_median) bytes=$(cause "bytes between hosts")
    near "$(cause all)" "$step" 0.1 || return 1
    run_anew ring --set site.rate=2gbit || return 1
    near "$(value step_ms_median)" "$(awk -v a="$step" -v b="$bytes" 'BEGIN { print a - b / 2 }')" 0.1 || return 1
    run_anew ring --set "inject={kind: fixed, sleep: 3ms, ranks: [5], phase: sync}" || return 1
    near "$(cause "injected sleeps")" 3 0.5
}

# Prints the shares of a strategy's step in the example, a line a cause: "forward pass: 11.4 %".
shares_of() { # strategy
    local point
    point=$(awk -F, -v strategy="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $at["strategy"] == strategy { print $at["point"] }' <(unquoted))
    "$scalebench" simulate "$(echo "$SCALEBENCH_OUT/why/latest/launches/$point"/*)" --why |
        sed -n 's/^\(.*[a-z]\)  *[0-9.e-]*  *\([0-9.]* %\)$/\1: \2/p'
}

# comm/README.md shows the shares that the example has on any machine.
the_page_shows_the_example() {
    local cause
    "$scalebench" run configs/examples/why.yaml >"$tmp/run.log" 2>&1 || { cat "$tmp/run.log"; return 1; }
    summary=$SCALEBENCH_OUT/why/latest/summary.csv
    shares_of allreduce >"$tmp/at_once" && shares_of bucketed >"$tmp/hidden" || return 1
    for cause in "forward pass" "backward pass" "bytes between hosts" "sums of received numbers"; do
        grep -qF "| $cause | $(sed -n "s/^$cause: //p" "$tmp/at_once") | $(sed -n "s/^$cause: //p" "$tmp/hidden") |" comm/README.md ||
            { echo "$cause"; cat "$tmp/at_once" "$tmp/hidden"; return 1; }
    done
}

# comm/README.md shows the savings that the example has on any machine.
the_page_shows_what_changes_save() {
    "$scalebench" run configs/examples/what_if.yaml >"$tmp/run.log" 2>&1 || { cat "$tmp/run.log"; return 1; }
    summary=$SCALEBENCH_OUT/what_if/latest/summary.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "| %s | %.1f ms | %.2f |\n", $at["case"], $at["step_ms_median"], $at["speedup"] }' <(unquoted) >"$tmp/savings"
    cat "$tmp/savings"
    [ "$(wc -l <"$tmp/savings")" = 5 ] && [ "$(grep -cxFf "$tmp/savings" comm/README.md)" = 5 ]
}

check "comm/README.md shows the savings of the example" the_page_shows_what_changes_save
check "comm/README.md shows the shares of the example" the_page_shows_the_example
check "the causes of a step add up, and predict the gain of a faster link" divides_the_step_among_causes
check "a ring takes the time of the formula" takes_the_time_of_the_formula
check "computing takes the time at the rate" computes_at_the_rate
check "dropped images do not count" counts_trained_images
check "half the rate and a delay take longer by the formula" changes_with_the_link
check "a link with a name has its stated latency and rate" takes_a_link_by_name
check "launches draw times of messages if their scatter is known" scatters_with_its_link
check "a rank that is late by 3 ms delays all" slows_one_rank
check "links of leaf switches are shared" changes_with_leaves
check "emulated hosts: headers count, and a burst passes at once" has_the_interfaces_of_emulated_hosts
check "rows, table and caption say that a point is simulated" is_marked
check "the same launch gets the same numbers" can_be_repeated
check "a damaged file is named" tells_a_damaged_file
check "simulated ranks send the bytes and messages of real ranks" sends_what_real_ranks_send
check "points that ran show the error of simulated ones" compares_with_what_ran
check "a kept run is simulated again" is_simulated_again
check "real ranks show their share of the core's peak" has_utilisation
# The shares of the causes add up to the step, and the sleep has its whole share.
divides_steps_among_causes() {
    run_anew ring --set "measure.critical_path=true figures=[critical_path] inject={kind: fixed, ranks: [1], sleep: 3ms}" || return 1
    near "$(value path_inject_ms)" 3 0.1 && near "$(value path_bytes_ms)" "$(ring_ms 8 "$(value params)" 1e9 0)" 3 || return 1
    near "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) is_part[i] = $i ~ /^path_.*_ms$/ } NR == 2 { for (i in is_part) if (is_part[i]) sum += $i; print sum }' \
        <(unquoted))" "$(value step_ms_median)" 0.1 || return 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { exit !($at["path_inject_ms"] > 2.99 && $at["other_ms"] < 0.01 * $at["step_ms"]) }' \
        "$SCALEBENCH_OUT/ring/latest/series_critical_path.csv"
}
check "causes of a step add up to the step" divides_steps_among_causes
check "more ranks wait longer for the slowest" waits_for_the_slowest
check "4096 ranks" has_thousands_of_ranks
# By default the launch takes the last calibration of its run.
finds_its_calibration() {
    local launch
    launch=$(dirname "$(find "$SCALEBENCH_OUT/scatter/latest/" -name simulated.json | sort | head -n 1)")
    cp "$launch/simulated.json" "$tmp/first.json"
    expect 0 "on the critical path" "$scalebench" simulate "$launch" --why && cmp "$launch/simulated.json" "$tmp/first.json" || return 1
    find "$SCALEBENCH_OUT/scatter/latest/" -name 'rank.*.times.json' -delete
    expect 2 "nor a calibration. Use --calibration=LAUNCH" "$scalebench" simulate "$launch"
}
check "a launch finds its calibration, or names the option" finds_its_calibration
check "a calibration that is not there" expect 2 "nowhere: rank.0.times.json not found" \
    "$scalebench" simulate --calibration=nowhere "$(dirname "$(find "$SCALEBENCH_OUT/scatter/latest/" -name simulated.json | sort | head -n 1)")"
check "a folder of no run" expect 2 "expected a folder RUN/launches/POINT/NAME" "$scalebench" simulate nowhere
check "a run in place of a launch" expect 2 "expected a folder RUN/launches/POINT/NAME" "$scalebench" simulate "$PWD/results/reference/past_scale"
check "a folder of another point" expect 2 "has no point" "$scalebench" simulate "$SCALEBENCH_OUT/ring/latest/launches/0/time-000"
finish
