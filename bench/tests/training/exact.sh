#!/usr/bin/env bash
# Tests check --exact: a committed run agrees with the same spec run again, and each kind of difference is reported.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

export SCALEBENCH_HOME=$PWD
reference=results/reference/strong_scaling

exact() { "$scalebench" check "$1" --exact "${@:2}"; }

# Copies the committed run with cells of a table changed where column `name` has `old`.
changed() { # copy, table, column, old, new
    cp -r "$reference" "$tmp/$1" && awk -F, -v OFS=, -v name="$3" -v old="$4" -v new="$5" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR > 1 && $column == old && (old != new) { $column = new; done++ }
        { print }
        END { exit !done }' "$reference/$2.csv" >"$tmp/$1/$2.csv"
}

# Fewer launches and steps, and generated data: points match by label.
agrees_when_run_again() {
    "$scalebench" run "$reference/spec.yaml" --out "$tmp/results" --set "data.set=digits place.oversubscribe=allow
        measure.time.launches=1..1 measure.time.steps=2 measure.time.warmup_steps=1 measure.accuracy.seeds=[] figures=[] checks=[]" ||
        return 1
    expect 0 "33 values equal, 0 differ, 0 missing" exact "$tmp/results/strong_scaling" strong_scaling --strict
}
check "a committed run agrees with its spec run again" agrees_when_run_again

payload=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bytes_payload") c = i }
    NR > 1 && $c > most { most = $c } END { print most }' "$reference/summary.csv")
[ "${payload:-0}" -gt 0 ] || exit 1

reports_a_difference() {
    changed more_bytes summary bytes_payload "$payload" 4 || return 1
    expect 1 "ranks=2 allreduce: bytes_payload: expected $payload, found 4" exact "$tmp/more_bytes" strong_scaling || return 1
    expect 1 "32 values equal, 1 differ" exact "$tmp/more_bytes" "$reference" || return 1
    expect 1 "<failure type=\"differs\" message=\"bytes_payload: expected $payload, found 4\"/>" \
        exact "$tmp/more_bytes" "$reference" --format junit || return 1
    grep -q 'tests="3" failures="1" errors="0" skipped="0"' "$tmp/expect.log"
}
check "a value that differs is reported with both values" reports_a_difference

reports_what_is_missing() {
    cp -r "$reference" "$tmp/fewer" && sed -i 2d "$tmp/fewer/summary.csv" || return 1
    expect 0 "ranks=1 none: missing in $tmp/fewer" exact "$tmp/fewer" strong_scaling || return 1
    expect 1 "ranks=1 none: missing in $tmp/fewer" exact "$tmp/fewer" strong_scaling --strict || return 1
    expect 0 "ranks=1 none: missing in $tmp/fewer" exact strong_scaling "$tmp/fewer" || return 1
    changed no_bytes summary bytes_payload "$payload" "" || return 1
    expect 0 "bytes_payload: expected $payload, found none" exact "$tmp/no_bytes" strong_scaling || return 1
    expect 1 "1 missing" exact "$tmp/no_bytes" strong_scaling --strict || return 1
    changed failed summary status ok failed && expect 1 "ranks=1 none: status failed in $tmp/failed" exact "$tmp/failed" strong_scaling
}
check "missing points and values are named, failed points fail" reports_what_is_missing

# Asynchronous strategies send other messages in each launch.
leaves_varying_values_out() {
    cp -r "$reference" "$tmp/varies" && awk -F, -v OFS=, -v payload="$payload" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "bytes_payload") column = i }
        $column == payload && !done { $column++; done = 1 }
        { print }' "$reference/raw.csv" >"$tmp/varies/raw.csv" || return 1
    expect 1 "bytes_payload: expected $payload, found $payload; launches differ" exact "$tmp/varies" strong_scaling || return 1
    expect 0 "bytes_payload: not compared, since launches of $tmp/varies differ" exact strong_scaling "$tmp/varies"
}
check "a value that varies in the reference is left out" leaves_varying_values_out

refuses() {
    expect 2 "no point has values of exact columns in both 'strong_scaling' and 'winograd'" exact winograd strong_scaling || return 1
    expect 2 "'$reference' is compared with itself, so no value can differ" exact "$reference" strong_scaling || return 1
    expect 2 "'nowhere' is not a run" exact strong_scaling nowhere || return 1
    expect 2 "found sweeps: 'comm' is a sweep" exact strong_scaling comm || return 1
    expect 2 "Leave conditions and --file out" exact strong_scaling strong_scaling "ranks > 0" || return 1
    expect 2 "known: text junit" exact strong_scaling strong_scaling --format csv
}
check "bad input is refused" refuses

explains() {
    expect 0 "exact    equal on every machine" "$scalebench" explain bytes_wire || return 1
    ! "$scalebench" explain memory_mib | grep exact
}
check "explain marks exact columns" explains
finish
