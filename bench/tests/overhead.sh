#!/usr/bin/env bash
# Tests the output of make bench-overhead; its numbers are not judged on a busy machine.
# tier: rest
# cores: 2
# seconds: 10
set -u
. bench/tests/lib/tap.sh

# Status 1 is a missed target, not a failure of the program.
prints_rows() {
    PAIRS=6 LOOKS=6 STEPS=5 SAMPLED_STEPS=20 RANKS=1 BUILD=$build ci/measure/overhead.sh >"$tmp/rows.csv" || [ $? -eq 1 ] || return 1
    cat "$tmp/rows.csv"
    [ "$(cut -d, -f1 "$tmp/rows.csv")" = "$(printf 'what\nlaunch\nlook\nstep\nbetween\ntrace\nsample')" ] || return 1
    # Fields: what ranks with without cost lo hi unit confidence pairs target met.
    awk -F, 'NR == 1 { fields = NF; next }
        NF != fields || $2 != 1 || $3 <= 0 || $4 < 0 || $6 > $5 || $5 > $7 || $9 < 95 || $10 != 6 ||
            $12 !~ /^(yes|no|undecided)$/ { print "bad row: " $0; bad = 1 }
        END { exit bad }' "$tmp/rows.csv"
}

refuses_too_few_pairs() {
    expect 2 "5 pairs give no interval of 95 %" env PAIRS=5 STEPS=5 RANKS=1 BUILD="$build" ci/measure/overhead.sh
}

check "costs as CSV" prints_rows
check "five pairs are too few" refuses_too_few_pairs
finish
