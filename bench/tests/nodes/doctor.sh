#!/usr/bin/env bash
# `scalebench doctor`: what it measures here and on emulated hosts, and whom it names. ci/doctor.sh (make
# bench-doctor) counts how often it is right.
# tier: rest
# shellcheck disable=SC2016 # awk's own, and bash's inside
set -u
# shellcheck source=bench/tests/lib/tap.sh
. bench/tests/lib/tap.sh
# shellcheck source=ci/stage.sh
. ci/stage.sh

doctor() { # arguments
    "$scalebench" doctor --out "$tmp/out" "$@"
}

# A cell of the latest findings or links, as `columns of the rows where condition holds`.
cells() { # file, awk program over names of columns in at[]
    awk -F, "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next } $2" "$tmp/out/doctor/latest/$1"
}

is_told_of() {
    "$scalebench" doctor --help | grep -q 'examine the site' && "$scalebench" man | grep -q 'doctor'
}
check "help and the man page tell of it" is_told_of
check "an option that does not exist is refused" expect 2 "SET:1:1: site: 'hots' is unknown" doctor --set "site.hots=4"
check "so are several points" expect 2 "one is examined" doctor --set "matrix.ranks=[1,2]"
check "and a spec that is not there" expect 2 "nowhere.yaml" doctor nowhere.yaml
check "what cannot run here says why" expect 3 "the local site has 1" doctor --set nodes=2

# Where programs lie stands in the spec that doctor runs.
lies_anywhere() {
    local folder=$tmp/'the "best" \build'
    mkdir "$folder" && cp "$build"/{scalebench,pin,doctor_ranks} "$folder" || return 1
    SCALEBENCH_HOME=$PWD expect 3 "the local site has 1" "$folder/scalebench" doctor --out "$tmp/out" --set nodes=2
}
check "programs may lie in a folder with quotation marks" lies_anywhere

# Whatever else runs here may be found: exit status 0 or 1. Two ranks on two cores, or one on one.
here() {
    doctor >"$tmp/here.txt"
    local status=$? files=$tmp/out/doctor/latest cores
    cat "$tmp/here.txt"
    cores=$(cells cores.csv '{ print $at["gemm_gflop_per_s"], $at["memory_gbyte_per_s"], $at["latency_ns"] }')
    echo "$cores"
    [ "$status" -le 1 ] && grep -q '^node ' "$tmp/here.txt" && [ -s "$files/columns.csv" ] &&
        awk '!($1 > 0.5 && $1 < 2000 && $2 > 0.1 && $2 < 2000 && $3 > 1 && $3 < 20000) { exit 1 }' <<<"$cores" &&
        [ "$(wc -l <<<"$cores")" -eq "$(cells ../latest/cores.csv '{ print }' | wc -l)" ] &&
        ! grep -q 'no_shared_memory' "$files/findings.csv"
}
check "this machine is examined, each core of it" here

cores=$(nproc)
no_shared_memory() {
    expect 1 "not by shared memory" env UCX_TLS=tcp,self "$scalebench" doctor --out "$tmp/out" &&
        cells findings.csv '{ print $at["finding"] }' | grep -qx no_shared_memory &&
        [ "$(cells links.csv '{ print $at["interface"] }')" = lo ]
}
if [ "$cores" -lt 2 ]; then
    skip "ranks of a node that talk over TCP are named" "one core has one rank"
else
    check "ranks of a node that talk over TCP are named" no_shared_memory
fi

# A source that is newer than what was made of it, in a build of its own.
stale() {
    local home=$tmp/home
    mkdir -p "$home/bench/a" "$home/build/obj/bench/a" "$home/plots" "$home/configs"
    cp "$build/scalebench" "$build/doctor_ranks" "$build/pin" "$home/build/"
    echo "build/obj/bench/a/x.o: bench/a/x.c bench/a/x.h" >"$home/build/obj/bench/a/x.d"
    touch "$home/bench/a/x.c" "$home/bench/a/x.h"
    touch -d '1 hour ago' "$home/bench/a/x.c" "$home/bench/a/x.h"
    touch "$home/build/obj/bench/a/x.o"
    (cd "$home" && build/scalebench doctor --set "ranks=1 ranks_per_node=1") >"$tmp/current.txt"
    ! grep -q 'are stale' "$tmp/current.txt" || return 1
    touch -d '1 hour' "$home/bench/a/x.h"
    (cd "$home" && expect 1 "bench/a/x.h has changed since obj/bench/a/x.o was made of it" \
        build/scalebench doctor --set "ranks=1 ranks_per_node=1")
}
check "a stale build is named by a source that has changed" stale

if ! ci/netns.sh --rate 1gbit probe >"$tmp/probe.log" 2>&1; then
    why=$(tail -n 1 "$tmp/probe.log")
    skip "the site of a spec is examined, over its interfaces" "$why"
    skip "a host that sends at 90 %, and one that loses 10 % of its core, are named" "$why"
    finish
fi

cat >"$tmp/spec.yaml" <<'END'
name: spec
scaling: strong
model: softmax_784
train: {global_batch: 64}
site: {kind: emulated, rate: 500mbit}
zip: {ranks: [1, 2], nodes: [1, 2]}
END
as_the_spec_says() {
    doctor "$tmp/spec.yaml" >"$tmp/spec.txt"
    local status=$?
    cat "$tmp/spec.txt"
    [ "$status" -le 1 ] && grep -q '2 nodes, 2 ranks | emulated, 500mbit delay none' "$tmp/spec.txt" &&
        [ "$(cells links.csv '$at["interface"] == "eth0"' | wc -l)" -eq 2 ] &&
        cells links.csv '!($at["gbyte_per_s"] > 0.03 && $at["gbyte_per_s"] < 0.065) { exit 1 }'
}
check "the site of a spec is examined, over its interfaces" as_the_spec_says

# One run with both: node1's link has 90 % of its rate, node2's processes have 90 % of a core.
beside_hosts() {
    shape_host node1 1000 90 && launch_in "$tmp/launcher" node2 "$1" || return 1
    SCALEBENCH_LAUNCHER=$tmp/launcher "$scalebench" doctor --out "$tmp/out" --set "site=emulated nodes=3"
}
export -f beside_hosts shape_host launch_in
export tmp scalebench
stage_both() {
    local group status
    group=$(limit_cores "doctor-$$" 90) || return 1
    ci/netns.sh --hosts 3 --rate 1gbit exec bash -c 'beside_hosts "$1"' - "$group"
    status=$?
    rmdir "$group"
    cells findings.csv '{ print $at["finding"], $at["subject"] }' | tee "$tmp/named"
    [ "$status" -eq 1 ] && grep -qx 'sends_slow node1' "$tmp/named" && grep -qx 'core_lost node2' "$tmp/named" &&
        ! grep -E '^(sends|receives|link)_slow' "$tmp/named" | grep -vqx 'sends_slow node1'
}
# What else this machine does may hide it: three times in a row it should not.
both_are_named() {
    stage_both || stage_both || stage_both
}
if cgroups_of_cpu >/dev/null; then
    check "a host that sends at 90 %, and one that loses 10 % of its core, are named" both_are_named
else
    skip "a host that sends at 90 %, and one that loses 10 % of its core, are named" "no cgroup here limits processors"
fi
finish
