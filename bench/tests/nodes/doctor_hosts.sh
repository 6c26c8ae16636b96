#!/usr/bin/env bash
# Tests `scalebench doctor` on emulated hosts: its measurements of their links, and the host that it names.
# tier: rest
# shellcheck disable=SC2016 # awk's own, and bash's inside
set -u
# shellcheck source=bench/tests/lib/tap.sh
. bench/tests/lib/tap.sh
# shellcheck source=ci/measure/stage.sh
. ci/measure/stage.sh
# shellcheck source=bench/tests/lib/doctor.sh
. bench/tests/lib/doctor.sh

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

# One run with both: node1's link has 90 % of its rate, node2's processes 90 % of a core.
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
    ! grep -E '^(undecided|core_lost)' "$tmp/named" | grep -vqx 'core_lost node2' || return "$other_load"
    [ "$status" -eq 1 ] && grep -qx 'sends_slow node1' "$tmp/named" && grep -qx 'core_lost node2' "$tmp/named" &&
        ! grep -E '^(sends|receives|link)_slow' "$tmp/named" | grep -vqx 'sends_slow node1'
}
# Other load may hide a slow host, but not three times in a row. A run in which it took the cores does not count.
both_are_named() {
    local wrong=0
    for _ in 1 2 3 4 5 6; do
        stage_both && return 0
        [ $? -eq "$other_load" ] || wrong=$((wrong + 1))
        [ "$wrong" -lt 3 ] || return 1
    done
    [ "$wrong" -eq 0 ] && return "$other_load"
}
other_load=77 both="a host that sends at 90 %, and one that loses 10 % of its core, are named"
if ! cgroups_of_cpu >/dev/null; then
    skip "$both" "no cgroup here limits processors"
else
    both_are_named >"$tmp/both.log" 2>&1
    case $? in
    "$other_load") skip "$both" "in six runs, other programs used the cores" ;;
    0) check "$both" true ;;
    *) check "$both" sh -c "cat '$tmp/both.log'; exit 1" ;;
    esac
fi
finish
