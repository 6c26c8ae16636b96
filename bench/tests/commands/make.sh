#!/usr/bin/env bash
# Tests the values that make passes to the programs, and the arguments that it rejects.
# cores: 1
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

by_make() { # arguments; skips the build
    env -u MAKEFLAGS make --no-print-directory MAKE=true BUILD="$bin" CONFIG="$tmp/fake.yaml" "$@"
}

refuses_what_lost_its_quotes() {
    local out=$tmp/lost
    expect 2 'quotes are missing: make bench SET="train.epochs=1 matrix.ranks=[1]"' \
        by_make bench OUT="$out" SET=train.epochs=1 'matrix.ranks=[1]' || return 1
    expect 2 'quotes are missing: make bench SET="ranks=1"' by_make bench OUT="$out" ranks=1 || return 1
    expect 2 'quotes are missing: make bench SET="matrix.ranks=[1, 2]"' \
        by_make bench OUT="$out" 'SET=matrix.ranks=[1,' '2]' && [ ! -e "$out" ]
}

takes_quotes_that_are_there() {
    local out="$tmp/it's"
    expect 0 "fake" by_make bench OUT="$out" SET="train.epochs=2 data.set='digits' matrix.ranks=[2]" &&
        grep -q '^train.epochs: 2' "$out/fake/latest/spec.yaml" &&
        grep -q '^data.set: digits' "$out/fake/latest/spec.yaml" || return 1
    expect 2 "'it's' is not a time" by_make bench OUT="$out" SET="measure.limit=it's"
}

refuses_a_test_that_is_none() {
    local name
    expect 2 "TEST=sumary: no test has this in its name; nearest: " by_make test TEST=sumary || return 1
    for name in collect_summ "sync_f64 on 3 ranks" runner; do
        TEST=$name ci/run_tests.sh --check || return 1
    done
    expect 1 "0 passed, 0 failed, 0 skipped" env BUILD="$tmp/none" TEST=nothing ci/run_tests.sh
}

# Runs of doctor and unfinished campaigns have a spec but no tables, so they are not listed. The kept copy of a report's run
# counts as a run of its own. Archives contain no sweeps.
take_what_has_tables() {
    local out="$tmp/exam'ined" runs sweeps
    mkdir -p "$out/"{doctor,fake,begun,kept}/latest "$out/reports/fig2"
    touch "$out/doctor/latest/"{spec.yaml,findings.csv,summary.csv} "$out/fake/latest/"{spec.yaml,summary.csv} \
        "$out/begun/latest/spec.yaml" "$out/kept/latest/summary.csv" "$out/reports/fig2/summary.csv"
    sed 's/^name:.*/name: kept/' "$tmp/fake.yaml" >"$out/reports/fig2/spec.yaml"
    runs=$("$bin/scalebench" list runs --out "$out") && sweeps=$("$bin/scalebench" list sweeps --out "$out") || return 1
    [ "$(head -n 3 <<<"$runs")" = "$out/fake/latest"$'\n'"$out/reports/fig2"$'\n'results/reference/accuracy ] &&
        grep -q '^results/reference/comm$' <<<"$sweeps" && ! grep "results/reference/comm" <<<"$runs" || return 1
    env -u MAKEFLAGS make --no-print-directory -n report BUILD="$bin" OUT="$out" |
        grep "report  --out \"\$OUT\" --output"
}

# Prints which sources of peer_onednn make would compile, with a compiler that has no headers of its own.
sources_with() { # variables
    by_make -n BUILD="$tmp/none" CC="${CC:-gcc} -nostdinc" "$@" "$tmp/none/peer_onednn" | grep -o 'onednn/[a-z]*\.c' | sort -u
}

builds_without_onednn() {
    mkdir -p "$tmp/onednn/include/oneapi/dnnl" && touch "$tmp/onednn/include/oneapi/dnnl/dnnl.h" || return 1
    [ "$(sources_with | tr '\n' ' ')" = "onednn/main.c onednn/without.c " ] || { sources_with; return 1; }
    sources_with ONEDNN_DIR="$tmp/onednn" | grep -x onednn/layers.c
}

check "make refuses options that lost their quotes" refuses_what_lost_its_quotes
check "make takes quotes in SET and OUT" takes_quotes_that_are_there
check "make test refuses a name that no test has" refuses_a_test_that_is_none
check "make report and artifact accept runs with tables" take_what_has_tables
check "make builds without oneDNN, and with it where it is" builds_without_onednn
finish
