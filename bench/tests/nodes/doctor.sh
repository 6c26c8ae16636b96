#!/usr/bin/env bash
# Tests measurements and findings of `scalebench doctor` here. ci/measure/doctor.sh (make bench-doctor) counts right findings.
# tier: rest
# cores: 2
# seconds: 40
# shellcheck disable=SC2016 # awk's own, and bash's inside
set -u
# shellcheck source=bench/tests/lib/tap.sh
. bench/tests/lib/tap.sh
# shellcheck source=bench/tests/lib/doctor.sh
. bench/tests/lib/doctor.sh

is_told_of() {
    "$scalebench" doctor --help | grep -q 'Check a site' && "$scalebench" man | grep -q 'doctor'
}
check "help and the man page describe doctor" is_told_of
check "an option that does not exist is refused" expect 2 "SET:1:1: site: 'hots' is unknown" doctor --set "site.hots=4"
check "so are several points" expect 2 "makes 2 points, expected one" doctor --set "matrix.ranks=[1,2]"
check "and a spec that is not there" expect 2 "nowhere.yaml" doctor nowhere.yaml
check "a link that the local site does not have" expect 2 "SET:1:11: site.rate has no effect" doctor --set site.rate=1gbit
check "--set sets the number of ranks" expect 3 "500 ranks x 1 thread need 500 cores" doctor --set "ranks=500 place.oversubscribe=refuse"
check "a site that cannot run here is reported with the reason" expect 3 "but site = local has one node" doctor --set nodes=2

# Doctor's spec contains the paths of its programs.
lies_anywhere() {
    local folder=$tmp/'the "best" \build'
    mkdir "$folder" && cp "$build"/{scalebench,pin,doctor_ranks} "$folder" || return 1
    SCALEBENCH_HOME=$PWD expect 3 "site = local has one node" "$folder/scalebench" doctor --out "$tmp/out" --set nodes=2
}
check "programs may lie in a folder with quotation marks" lies_anywhere

# Other programs may cause findings, so exit status 0 or 1. Two ranks on two cores, or one on one.
here() {
    # shellcheck disable=SC2119 # it has no arguments
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
    expect 1 "instead of shared memory" env UCX_TLS=tcp,self "$scalebench" doctor --out "$tmp/out" &&
        cells findings.csv '{ print $at["finding"] }' | grep -qx no_shared_memory &&
        [ "$(cells links.csv '{ print $at["interface"] }')" = lo ]
}
if [ "$cores" -lt 2 ]; then
    skip "ranks of a node that talk over TCP are named" "one core has one rank"
else
    check "ranks of a node that talk over TCP are named" no_shared_memory
fi

# A source that is newer than its object, in a build folder of its own.
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
    (cd "$home" && expect 1 "bench/a/x.h is newer than obj/bench/a/x.o" \
        build/scalebench doctor --set "ranks=1 ranks_per_node=1")
}
check "a stale build is named by a source that has changed" stale

finish
