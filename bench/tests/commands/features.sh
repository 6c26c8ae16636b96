#!/usr/bin/env bash
# Tests the table of features: every feature of scalebench has a proof, and missing proofs are reported.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh
export BUILD=$build

is_current() {
    sed -n '/^<!-- ci\/features.sh/,/^<!-- until/p' results/features.md | sed '1d;$d' >"$tmp/committed"
    [ "$(wc -l <"$tmp/committed")" -gt 30 ] && ci/features.sh >"$tmp/made" && diff "$tmp/committed" "$tmp/made"
}

# Checks that each column of the first table counts the entries of its rows and links to them.
counts_what_is_below() {
    awk -F ' [|] ' '
        FNR == NR { split($0, cell, ","); if (!(cell[1] in first)) first[cell[1]] = FNR; last[cell[1]] = FNR; next }
        /^[|] aspect/ { below = 1 }
        !below && /^[|] [A-Z]/ { sub(/ [|]$/, ""); for (i = 6; i <= 9; i++) said[substr($1, 3), i] = $i }
        below && /^[|] [A-Z]/ {
            aspect = substr($1, 3)
            aspects += all[aspect]++ == 0
            for (i = 3; i <= 6; i++) n[aspect, i + 3] += $i != "-" && $i != "not found"
        }
        END {
            for (aspect in all)
                for (i = 6; i <= 9; i++) {
                    wanted = "[" n[aspect, i] " of " all[aspect] "](features.csv#L" first[aspect] "-L" last[aspect] ")"
                    if (said[aspect, i] != wanted) { print aspect, i, said[aspect, i], wanted; wrong = 1 }
                }
            exit wrong || aspects != 6
        }' results/features.csv "$tmp/committed"
}

# Changes one thing of one feature in a copy: check reports it and nothing else.
refuses() { # message, feature, file, sed program
    local features=$tmp/features file
    rm -rf "$features" && mkdir "$features" && cp results/features_frameworks.csv "$features" || return 1
    for file in features features_documented; do
        sed -n "1p;/$2/p" "results/$file.csv" >"$features/$file.csv"
    done
    FEATURES=$features ci/features.sh check && cp "$features/$3.csv" "$tmp/before" || return 1
    sed -i "$4" "$features/$3.csv"
    ! diff -q "$tmp/before" "$features/$3.csv" >/dev/null || { echo "nothing was changed"; return 1; }
    FEATURES=$features expect 1 "$1" ci/features.sh check || return 1
    [ "$(grep -c "^$features: " "$tmp/expect.log")" -eq 1 ]
}

check "every entry is proven" ci/features.sh check
check "results/features.md has the generated tables" is_current
check "aspects count the features below them" counts_what_is_below
check "a column that is none" refuses "gradients too: raw.csv has no column 'grad_mib'" "gradients too" \
    features s/grads_mib/grad_mib/
check "a test that does not run" refuses "Adasum: 'make test' does not run 'comm/tests/mpi_ad.c'" Adasum \
    features s/mpi_approximate/mpi_ad/
check "a case that its test has not" refuses "Adasum: comm/tests/mpi_approximate.c has no case 'adasum_adds'" Adasum \
    features 's/adasum_adds_orthogonal.*/adasum_adds/'
check "a case that its script has not" refuses "bench/tests/training/timeline.sh has no case 'traces'" "timeline of a step" \
    features 's/traces have the fields that viewers need/traces/'
check "an entry without a proof" refuses "Adasum: proof missing" Adasum features 's/test .*//'
check "a missing proof is reported" refuses "Adasum: scalebench lacks it, but it has proofs" Adasum features s/sync.strategy=adasum//
check "an option that is none" refuses "clipping by value: 'train.clip=0.1' is refused" "clipping by value" \
    features s/clip_value=/clip=/
check "an aspect that nobody published" refuses "'Data Update' is no row of results/published" Adasum \
    features 's/^Data Updates/Data Update/'
check "a feature that has no row" refuses "Adasums: documented of horovod, but no row" Adasum \
    features_documented '1a Adasums,horovod,hvd.AdaSum,docs'
check "a framework that nobody searched for a feature" refuses "Adasum: expected one row of pytorch" Adasum \
    features_documented /pytorch/d
check "a framework that was searched twice" refuses "Adasum: expected one row of horovod" Adasum \
    features_documented '/horovod/p'
check "an entry without a name" refuses "Adasum: expected its name in horovod" Adasum \
    features_documented 's/hvd.AdaSum//'
check "an entry without a source" refuses "Adasum: '' is not a source of horovod" Adasum \
    features_documented '/horovod/s/,[^,]*$/,/'
check "a feature not found needs the place of the search" refuses "Adasum: '' is not a source of pytorch" Adasum \
    features_documented '/pytorch/s/,[^,]*$/,/'
check "sources of another version" refuses "Horovod: 'https://github.com/horovod/horovod/blob/master/' is not an address of version 0.28.1" \
    Adasum features_frameworks s/v0.28.1/master/
finish
