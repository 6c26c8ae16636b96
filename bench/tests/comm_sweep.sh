#!/usr/bin/env bash
# Tests the sweep over strategies at small sizes, alone and as a campaign: its table, its verdicts (also on wrong sums), its
# figures and its error messages.
# tier: rest
# cores: 2
# seconds: 45
set -u
. bench/tests/lib/tap.sh

sweep=$build/comm_sweep
run=$tmp/results/comm/latest
small="[link,4B,1004B,40KiB,softmax_784,lenet_21k]"

# Prints the table of a run; other output is in expect.log.
swept() { # options
    expect 0 " rows, 0 wrong" "$scalebench" run configs/comm.yaml --out "$tmp/results" --set "$1"
}

# CSV with quoted fields for awk: commas inside quotes become semicolons. Columns by name in col[].
plain() { # file
    awk '{ n = split($0, part, "\""); line = ""
        for (i = 1; i <= n; i++) { if (i % 2 == 0) gsub(",", ";", part[i]); line = line part[i] }
        print line }' "$1"
}
# shellcheck disable=SC2016 # the names are awk's
fields='NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; n = NF; next }'

strategies() {
    "$scalebench" list strategies | awk "{ print \$1 }"
}

# With three ranks on two cores ranks yield, which takes longer.
sums_on() { # ranks, gradients, turns
    swept "ranks=$1 matrix.workload.options.gradients=$2 workload.options.turns=$3" && cp "$run/comm.csv" "$tmp/$1.csv" || return 1
    plain "$tmp/$1.csv" | awk -F, -v ranks="$1" "$fields"'
        NF != n || $(col["ranks"]) != ranks || $(col["verdict"]) !~ /^(ok|not a sum|cannot run)$/ {
            print
            bad = 1
        }
        { seen[$(col["part"])] }
        END { exit bad || !("link" in seen) || !("flat" in seen) || !("net" in seen) }'
}

every_strategy_is_there() {
    strategies | sort >"$tmp/strategies.txt"
    [ -s "$tmp/strategies.txt" ] || return 1
    for part in "flat,,4," "net,lenet_21k,87360,"; do
        grep "^$part" "$tmp/2.csv" | cut -d, -f5 | grep -v '^MPI_' | sort -u |
            cmp - "$tmp/strategies.txt" || return 1
    done
}

exact_ones_sum() {
    local name
    plain "$tmp/2.csv" | awk -F, "$fields"'$(col["verdict"]) == "ok" { print $(col["operation"]) }' |
        sort -u >"$tmp/summed.txt"
    for name in allreduce ring shm gather_scatter; do
        grep -qx "$name" "$tmp/summed.txt" || return 1
    done
    ! grep -qx none "$tmp/summed.txt"
}

header_is_the_table() {
    awk -F, 'NR > 1 && $1 ~ /^(comm|link).csv$/ { print $2 }' "$run/columns.csv" |
        cmp - <(head -q -n 1 "$run/"{comm,link}.csv | tr , '\n')
}

# Rates follow from times; ring's counts at two ranks are the textbook's.
numbers_agree() {
    plain "$tmp/2.csv" | awk -F, "$fields"'
        function far(a, b) { return (a - b) ^ 2 > 1e-8 * b ^ 2 }
        $(col["verdict"]) == "cannot run" { next }
        $(col["part"]) == "link" { links++; next }
        $(col["part"]) == "best" { next }
        far($(col["algbw_gbyte_per_s"]), $(col["bytes"]) / $(col["latency_us"]) / 1e3) ||
            ($(col["busbw_gbyte_per_s"]) != "" &&
                far($(col["busbw_gbyte_per_s"]), $(col["algbw_gbyte_per_s"]))) ||
            $(col["latency_us_lo"]) > $(col["latency_us"]) ||
            $(col["latency_us"]) > $(col["latency_us_hi"]) { print; bad = 1 }
        $(col["operation"]) ~ /^MPI_/ && $(col["algorithm"]) == "auto" && $(col["ratio"]) != 1 {
            print
            bad = 1
        }
        $(col["operation"]) == "ring" && $(col["bytes"]) == 40960 {
            rings++
            if ($(col["bytes_wire"]) != 40960 || $(col["messages_wire"]) != 2) { print; bad = 1 }
        }
        END { exit bad || rings != 1 || links < 17 }' || return 1
    plain "$tmp/3.csv" | awk -F, "$fields"'
        $(col["verdict"]) != "cannot run" && $(col["part"]) != "link" {
            empty = $(col["busbw_gbyte_per_s"]) == ""
            r = $(col["busbw_gbyte_per_s"]) / $(col["algbw_gbyte_per_s"])
            if (!empty && (r < 1.333 || r > 1.334)) { print; bad = 1 }
            if (empty && $(col["operation"]) == "ring") { print; bad = 1 }
            if (!empty && ($(col["verdict"]) == "not a sum" || $(col["operation"]) ~ /^(shm|leader)/ ||
                $(col["compressor"]) !~ /^(none|)$/)) { print; bad = 1 }
            rows += !empty
        }
        END { exit bad || rows == 0 }'
}

finds_what_is_wrong() {
    "$mpiexec" -n 2 "$sweep" --gradients 400B --turns 2 --strategies ring,shm --spoil ring \
        >"$tmp/spoilt.csv" 2>"$tmp/err"
    [ $? -eq 1 ] && grep -q "comm_sweep: 1 results are wrong" "$tmp/err" || return 1
    plain "$tmp/spoilt.csv" | awk -F, "$fields"'
        $(col["part"]) == "best" { next }
        ($(col["operation"]) == "ring") != ($(col["verdict"]) == "wrong sum") { print; bad = 1 }
        $(col["operation"]) ~ /^(ring|shm)$/ { n_own++ }
        END { exit bad || n_own != 2 }'
}

# Every compressor keeps its promise with each strategy that supports compressors. Lossy ones differ from the sum; 16 bits
# are exact for small integers.
compressors_are_there() {
    local name
    "$scalebench" list compressors | awk '$1 != "none" { print $1 }' | sort >"$tmp/compressors.txt"
    [ -s "$tmp/compressors.txt" ] || return 1
    for name in allreduce allreduce_layer; do
        plain "$tmp/2.csv" | awk -F, -v name="$name" "$fields"'
            $(col["model"]) == "lenet_21k" && $(col["operation"]) == name && $(col["compressor"]) != "none" &&
                $(col["verdict"]) == "ok" && $(col["part"]) == "net" { print $(col["compressor"]) }' |
            sort | cmp - "$tmp/compressors.txt" || return 1
    done
    plain "$tmp/2.csv" | awk -F, "$fields"'
        $(col["model"]) != "lenet_21k" || $(col["name"]) !~ /[+]/ { next }
        { exact = $(col["compressor"]) ~ /16$/ }
        exact != ($(col["sum_error"]) == 0) { print; bad = 1 }
        END { exit bad }'
}

finds_what_is_wrong_compressed() {
    local what
    for what in 4000B lenet_21k; do
        "$mpiexec" -n 2 "$sweep" --gradients "$what" --turns 2 --strategies allreduce_layer \
            --spoil allreduce_layer >"$tmp/spoilt.$what" 2>"$tmp/err"
        [ $? -eq 1 ] || return 1
    done
    { cat "$tmp/spoilt.4000B"; sed 1d "$tmp/spoilt.lenet_21k"; } >"$tmp/spoilt.csv"
    plain "$tmp/spoilt.csv" | awk -F, "$fields"'
        $(col["name"]) !~ /[+]/ { next }
        { rows++ }
        $(col["verdict"]) != "wrong sum" { print; bad = 1 }
        END { exit bad || rows != 10 }'
}

# Two compared operations have reciprocal ratios.
compares_two() {
    expect 0 "times as fast as MPI_Allreduce/ring" "$scalebench" run configs/comm.yaml --out "$tmp/pairs" \
        --set "matrix.workload.options.gradients=[link,4B,40KiB,lenet_21k] workload.options.turns=4 \
            workload.options.pair=allreduce_layer+topk,mpi_allreduce/ring" || return 1
    [ -s "$tmp/pairs/comm/latest/link.csv" ] && [ ! -e "$tmp/pairs/comm/latest/comm.csv" ] &&
        cp "$tmp/pairs/comm/latest/compare.csv" "$tmp/pair.csv" || return 1
    plain "$tmp/pair.csv" | awk -F, "$fields"'
        function far(a, b) { return (a - b) ^ 2 > 1e-8 * b ^ 2 }
        $(col["name"]) != (NR % 2 == 0 ? "allreduce_layer+topk" : "MPI_Allreduce/ring") { bad = 1 }
        NR % 2 == 0 { lo = $(col["ratio_lo"]); name = $(col["name"]); next }
        $(col["other"]) != name || far($(col["ratio_hi"]) * lo, 1) { print; bad = 1 }
        { verdict = $(col["ratio_lo"]) > 1 ? "faster" : $(col["ratio_hi"]) < 1 ? "slower" : "undecided" }
        $(col["compared"]) != verdict { print; bad = 1 }
        END { exit bad || NR != 7 }'
}

# The best of each kind are timed again at each size and for each network.
names_the_best() {
    plain "$tmp/2.csv" | awk -F, "$fields"'
        $(col["part"]) != "best" { problems[$(col["model"]) $(col["bytes"])] = $(col["part"]) != "link"; next }
        { key = $(col["model"]) $(col["bytes"]); n_rows++ }
        $(col["name"]) ~ /^MPI_/ { theirs[key]; next }
        { ours[key] }
        END {
            for (key in problems)
                if (problems[key] && (++wanted) && !(key in ours && key in theirs)) bad = 1
            exit bad || n_rows != 2 * wanted
        }'
}

# Groups of two operations give the same rows.
takes_turns_in_groups() {
    "$mpiexec" -n 2 "$sweep" --gradients 256KiB --turns 2 --memory 4MiB \
        >"$tmp/groups.csv" 2>"$tmp/err" || return 1
    grep '^flat,' "$tmp/groups.csv" | cut -d, -f5 | sort >"$tmp/groups.txt"
    grep '^flat,,4,' "$tmp/2.csv" | cut -d, -f5 | sort | cmp - "$tmp/groups.txt"
}

# After a kill, complete rows are unchanged and the missing ones are added.
goes_on() {
    local two="workload.options.strategies=ring,shm matrix.workload.options.gradients=[4B,64MiB]" runner first
    local command=("$scalebench" run configs/comm.yaml --out "$tmp/go_on" --set "$two")
    setsid "${command[@]}" >"$tmp/out" 2>"$tmp/err" &
    runner=$!
    until compgen -G "$tmp/go_on/comm/*/launches/*/*/comm.csv" >/dev/null; do
        kill -0 "$runner" 2>/dev/null || return 1
        sleep 0.02
    done
    first=$(compgen -G "$tmp/go_on/comm/*/launches/*/*/comm.csv")
    kill -KILL -- "-$runner"
    wait "$runner"
    sed 1d "$first" >"$tmp/first.txt"
    expect 0 " rows, 0 wrong" "${command[@]}" && grep -Fxf "$tmp/first.txt" "$tmp/go_on/comm/latest/comm.csv" | cmp - "$tmp/first.txt" &&
        grep -q '^best,,4,' "$tmp/go_on/comm/latest/comm.csv" && grep -q '^best,,67108864,' "$tmp/go_on/comm/latest/comm.csv"
}

# The latency figure names every operation, the bandwidth figure those that send the bytes of its formula; axes have units.
draws() {
    local name
    for name in shm gather_scatter/mpich MPI_Allreduce/tree allreduce+powersgd MPI_Allreduce \
        "gradient of a rank" "times as fast as MPI_Allreduce" "time of a step"; do
        grep -qF ">$name<" "$run/latency.svg" || return 1
    done
    for name in MPI_Allreduce "gradient of a rank" "bus bandwidth (GB/s)"; do
        grep -qF ">$name<" "$run/busbw.svg" || return 1
    done
    ! grep -qE ">(shm|gossip|none|local_sgd|allreduce\+topk)<" "$run/busbw.svg" &&
        [ -s "$run/latency.png" ] && [ -s "$run/busbw.png" ]
}

# One rank has no bus bandwidth: the figure is left out, and an old one is removed.
draws_one_rank() {
    swept "ranks=1 workload.options.turns=2 workload.options.strategies=ring matrix.workload.options.gradients=[4B,4KiB]" &&
        [ -s "$run/latency.svg" ] && [ ! -e "$run/busbw.svg" ]
}

# `none` has no curve: a thousandth of its time does not change the figures.
axes_span_what_is_drawn() {
    local figure name
    mkdir -p "$tmp/other"
    cp "$run/link.csv" "$tmp/other" || return 1
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
        $(col["name"]) == "none" {
            n++
            for (c in col)
                if (c ~ /^latency_us/) $(col[c]) /= 1000
                else if (c ~ /busbw/) $(col[c]) *= 1000
        }
        { print }
        END { exit n == 0 }' "$run/comm.csv" >"$tmp/other/comm.csv" || return 1
    "$scalebench" figures "$tmp/other/comm.csv" >/dev/null || return 1
    for figure in latency busbw; do
        cmp "$run/$figure.svg" "$tmp/other/$figure.svg" || return 1
    done
}

# The copied reference is complete without launches: tables, figures, its part of a page.
keeps() {
    INTO=$tmp/kept OUT=$tmp/results BUILD=$build ci/references.sh keep comm && cmp "$run/link.csv" "$tmp/kept/comm/link.csv" &&
        [ -s "$tmp/kept/comm/latency.svg" ] && expect 0 " rows, 0 wrong" "$scalebench" table "$tmp/kept/comm" &&
        expect 0 "2 figures of 1 run" "$scalebench" report "$tmp/kept/comm" --output "$tmp/page.html" &&
        grep -q 'id="comm-link"' "$tmp/page.html"
}

check "exact operations give the sum on 1 rank" sums_on 1 "$small" 3
check "exact operations give the sum on 3 ranks" sums_on 3 "[link,400KiB,softmax_784]" 2
check "exact operations give the sum on 2 ranks" sums_on 2 "$small" 3
check "every strategy is there" every_strategy_is_there
check "exact strategies are judged by their sums" exact_ones_sum
check "the header is the table of columns" header_is_the_table
check "numbers agree" numbers_agree
check "a wrong sum is found" finds_what_is_wrong
check "compressors stay within their error bounds" compressors_are_there
check "a wrong compressed sum is found" finds_what_is_wrong_compressed
check "two operations are compared" compares_two
check "the best are timed anew" names_the_best
check "operations take turns in groups" takes_turns_in_groups
check "curves are drawn" draws
check "axes span the drawn values" axes_span_what_is_drawn
check "a run is kept" keeps
check "one rank has no bus to draw" draws_one_rank
check "a killed sweep resumes" goes_on
check "a table that is no sweep's is refused" expect 2 "known: comm.csv" "$scalebench" table results/claims.csv
check "an unknown option names the nearest" expect 2 "value is missing; nearest '--gradients'" "$sweep" --gradient 4B
check "an unknown operation is named" expect 2 "nearest 'ring'" "$sweep" --compare rign,shm
check "an unknown algorithm is named" expect 2 "known: auto" "$sweep" --compare shm,mpi_allreduce/rng
check "an unknown variant is named" expect 2 "known: usual" "$sweep" --compare gather_scatter/x,shm
check "an operation beside itself is no comparison" expect 2 "--compare: 'ring' is listed twice" "$sweep" --compare ring,ring
check "gradients are wanted" expect 2 "--gradients is missing" "$sweep"
check "a sweep trains nothing" expect 2 "have no effect on a sweep. Leave --train.lr out" "$sweep" --train.lr 3
check "two operations are no choice" expect 2 "--strategies has no effect with --compare" \
    "$sweep" --gradients 4B --compare ring,shm --strategies tree
check "a spoilt operation is timed" expect 2 "--spoil: strategy 'ring' is missing in --strategies" "$sweep" --gradients 4B --strategies tree --spoil ring
check "one operation is no comparison" expect 2 "two operations" "$sweep" --compare shm
check "a compressor runs with the strategies that support it" expect 2 "compressor 'fp16' is not supported by" "$sweep" --compare ring+fp16,shm
check "an unknown compressor is named" expect 2 "nearest 'fp16'" "$sweep" --compress fp61
check "swept options are refused as single values" expect 2 "Select values with --compress" "$sweep" --sync.compress fp16
check "an unknown strategy is named" expect 2 "nearest 'ring'" "$sweep" --strategies rign
check "an unknown network is named" expect 2 "lenet_21k" "$sweep" --gradients lenet_22k
check "a size without a unit is refused" expect 2 "as 64KiB" "$sweep" --gradients 64
check "a size of nothing is refused" expect 2 "4B..4GiB" "$sweep" --gradients 0B
check "an unknown way of waiting is named" expect 2 "nearest 'block'" "$sweep" --wait blok
check "zero turns are refused" expect 2 "1..100000" "$sweep" --turns 0
check "a segment out of range is refused" expect 2 "8B" "$sweep" --sync.segment 1B
finish
