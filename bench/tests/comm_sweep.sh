#!/usr/bin/env bash
# The sweep over strategies at small sizes: the shape of its table, its verdicts, also on sums that are
# wrong on purpose, interruption, its mistakes.
# tier: rest
# cores: 2
# seconds: 45
set -u
. bench/tests/lib/tap.sh

sweep=$build/comm_sweep
small=(--sizes "4B,1004B,40KiB" --models "softmax_784,lenet_21k" --turns 3)

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

# Three ranks outnumber the cores of small machines: ranks yield there, which takes its time.
sums_on() { # ranks, and what is swept
    "$mpiexec" -n "$1" "$sweep" "${@:2}" >"$tmp/$1.csv" 2>"$tmp/$1.err" || return 1
    plain "$tmp/$1.csv" | awk -F, -v ranks="$1" "$fields"'
        NF != n || $(col["ranks"]) != ranks || $(col["verdict"]) !~ /^(ok|not a sum|cannot run)$/ {
            print
            bad = 1
        }
        { seen[$(col["part"])] }
        END { exit bad || NR < 2 || !("flat" in seen) || !("net" in seen) }'
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
    "$sweep" --help | sed '1,/^Columns:/d' | awk '{ printf "%s%s", NR == 1 ? "" : ",", $1 }' |
        cmp - <(head -n 1 "$tmp/2.csv" | tr -d '\n')
}

# Rates follow from times; ring's counts at two ranks are those of the textbook.
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
    "$mpiexec" -n 2 "$sweep" --sizes 400B --models none --turns 2 --strategies ring,shm --spoil ring \
        >"$tmp/spoilt.csv" 2>"$tmp/err"
    [ $? -eq 1 ] || return 1
    plain "$tmp/spoilt.csv" | awk -F, "$fields"'
        $(col["part"]) == "best" { next }
        ($(col["operation"]) == "ring") != ($(col["verdict"]) == "wrong sum") { print; bad = 1 }
        $(col["operation"]) ~ /^(ring|shm)$/ { n_own++ }
        END { exit bad || n_own != 2 }'
}

# Every compressor under each strategy that takes one keeps what it promises; those that leave something
# out are off, 16 bits are enough for small whole numbers.
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
    "$mpiexec" -n 2 "$sweep" --sizes 4000B --models lenet_21k --turns 2 --strategies allreduce_layer \
        --spoil allreduce_layer >"$tmp/spoilt.csv" 2>"$tmp/err"
    [ $? -eq 1 ] || return 1
    plain "$tmp/spoilt.csv" | awk -F, "$fields"'
        $(col["name"]) !~ /[+]/ { next }
        { rows++ }
        $(col["verdict"]) != "wrong sum" { print; bad = 1 }
        END { exit bad || rows != 10 }'
}

# Two operations with each other: each the other's ratio turned over.
compares_two() {
    "$mpiexec" -n 2 "$sweep" --sizes 4B,40KiB --models lenet_21k --turns 4 \
        --compare allreduce_layer+topk,mpi_allreduce/ring >"$tmp/pair.csv" 2>"$tmp/err" || return 1
    plain "$tmp/pair.csv" | awk -F, "$fields"'
        function far(a, b) { return (a - b) ^ 2 > 1e-8 * b ^ 2 }
        $(col["name"]) != (NR % 2 == 0 ? "allreduce_layer+topk" : "MPI_Allreduce/ring") { bad = 1 }
        NR % 2 == 0 { lo = $(col["ratio_lo"]); name = $(col["name"]); next }
        $(col["other"]) != name || far($(col["ratio_hi"]) * lo, 1) { print; bad = 1 }
        { verdict = $(col["ratio_lo"]) > 1 ? "faster" : $(col["ratio_hi"]) < 1 ? "slower" : "undecided" }
        $(col["compared"]) != verdict { print; bad = 1 }
        END { exit bad || NR != 7 }'
}

# The best of each kind are timed anew at each size and for each network.
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

# Groups that hold two operations each give the same rows.
takes_turns_in_groups() {
    "$mpiexec" -n 2 "$sweep" --sizes 256KiB --models none --turns 2 --memory 4MiB \
        >"$tmp/groups.csv" 2>"$tmp/err" || return 1
    grep '^flat,' "$tmp/groups.csv" | cut -d, -f5 | sort >"$tmp/groups.txt"
    grep '^flat,,4,' "$tmp/2.csv" | cut -d, -f5 | sort | cmp - "$tmp/groups.txt" &&
        [ "$(wc -l <"$tmp/err")" -gt 3 ]
}

# What ranks say of it the launcher may have stopped listening to.
stops_when_asked() {
    local launch
    : >"$tmp/err"
    BUILD=$build OUT=$tmp/results MPIEXEC=$mpiexec ci/comm.sh --sizes 4B --models none \
        --turns 100000 >"$tmp/out" 2>"$tmp/err" &
    launch=$!
    until grep -q operations "$tmp/err"; do
        kill -0 "$launch" 2>/dev/null || return 1
        sleep 0.05
    done
    kill -TERM "$launch"
    wait "$launch"
    [ $? -eq 130 ] && [ ! -e "$tmp/results/comm/comm.csv" ]
}

# Begins a sweep whose second size takes a while, and stops it when the first is whole.
begin_and_stop() { # signal, to whom: - before a process group
    setsid env BUILD="$build" OUT="$tmp/go_on" MPIEXEC="$mpiexec" ci/comm.sh "${two[@]}" >"$tmp/out" 2>"$tmp/err" &
    launch=$!
    until compgen -G "$tmp/go_on/comm/comm.kept/flat-*.kept" >/dev/null; do
        kill -0 "$launch" 2>/dev/null || return 1
        sleep 0.02
    done
    cat "$tmp/go_on/comm/comm.kept"/flat-*.kept >"$tmp/first.txt"
    kill -"$1" -- "$2$launch"
    wait "$launch"
}

two=(--sizes "4B,16MiB" --models none --strategies "ring,shm" --turns 11)

# What was whole is as it was; the rest is there too, and nothing is left of what was kept.
has_gone_on() {
    [ -s "$tmp/first.txt" ] && grep -q "2 sizes and networks, 1 of them kept" "$tmp/err" &&
        grep '^\(flat\|best\),,4,' "$tmp/go_on/comm/comm.csv" | cmp - "$tmp/first.txt" &&
        grep -q '^best,,16777216,' "$tmp/go_on/comm/comm.csv" && [ ! -e "$tmp/go_on/comm/comm.kept" ]
}

goes_on() {
    begin_and_stop TERM ""
    [ $? -eq 130 ] && grep -q "stopped; 1 sizes and networks are kept" "$tmp/err" || return 1
    BUILD=$build OUT=$tmp/go_on MPIEXEC=$mpiexec expect 2 "FRESH=1 starts anew" ci/comm.sh "${two[@]}" --wait yield ||
        return 1
    [ ! -e "$tmp/go_on/comm/comm.csv" ] || return 1
    BUILD=$build OUT=$tmp/go_on MPIEXEC=$mpiexec ci/comm.sh "${two[@]}" >"$tmp/out" 2>"$tmp/err" && has_gone_on
}

# Ranks outlive their launcher by a moment, in which the folder is theirs.
goes_on_after_a_kill() {
    begin_and_stop KILL -
    until BUILD=$build OUT=$tmp/go_on MPIEXEC=$mpiexec ci/comm.sh "${two[@]}" >"$tmp/out" 2>"$tmp/err"; do
        grep -q "another sweep is at work" "$tmp/err" || return 1
        sleep 0.1
    done
    has_gone_on
}

starts_anew() {
    begin_and_stop TERM ""
    FRESH=1 BUILD=$build OUT=$tmp/go_on MPIEXEC=$mpiexec ci/comm.sh "${two[@]}" >"$tmp/out" 2>"$tmp/err" &&
        grep -q "2 sizes and networks, 0 of them kept" "$tmp/err"
}

# A line a size and network says how long it is expected to take, and nothing is swept.
plans() {
    BUILD=$build OUT=$tmp/plan MPIEXEC=$mpiexec expect 0 "16777216 bytes in  1 tensors  about" \
        ci/comm.sh "${two[@]}" --plan && [ ! -e "$tmp/plan" ]
}

says_what_is_left() {
    grep -q "^comm_sweep: 5 sizes and networks, .* about [0-9]" "$tmp/2.err" &&
        grep -q "^\[5/5\] lenet_21k, 87360 bytes .* operations  .* left$" "$tmp/2.err"
}

writes_its_table() {
    BUILD=$build OUT=$tmp/results MPIEXEC=$mpiexec expect 0 "0 wrong" ci/comm.sh "${small[@]}" || return 1
    [ -s "$tmp/results/comm/comm.csv" ] && [ ! -e "$tmp/results/comm/comm.csv.part" ]
}

# Every operation is named where it is compared, those that send what the formula counts in the other
# figure; axes have units.
draws() {
    local name
    for name in shm gather_scatter/mpich MPI_Allreduce/tree allreduce+powersgd MPI_Allreduce \
        "gradient of a rank" "times as fast as MPI_Allreduce" "time of a step"; do
        grep -qF ">$name<" "$tmp/results/comm/latency.svg" || return 1
    done
    for name in MPI_Allreduce "gradient of a rank" "bus bandwidth (GB/s)"; do
        grep -qF ">$name<" "$tmp/results/comm/busbw.svg" || return 1
    done
    ! grep -qE ">(shm|gossip|none|local_sgd|allreduce\+topk)<" "$tmp/results/comm/busbw.svg" &&
        [ -s "$tmp/results/comm/latency.png" ] && [ -s "$tmp/results/comm/busbw.png" ]
}

# One rank has no bus: that figure is left out, and one of before goes.
draws_one_rank() {
    mkdir -p "$tmp/alone/comm"
    touch "$tmp/alone/comm/busbw.svg"
    RANKS=1 BUILD=$build OUT=$tmp/alone MPIEXEC=$mpiexec expect 0 "0 wrong" ci/comm.sh --sizes 4B,4KiB \
        --models none --turns 2 --strategies ring || return 1
    [ -s "$tmp/alone/comm/latency.svg" ] && [ ! -e "$tmp/alone/comm/busbw.svg" ]
}

# Whatever `none`, which no curve shows, would be: a thousandth of its time leaves the pictures alone.
axes_span_what_is_drawn() {
    local figure name
    mkdir -p "$tmp/other"
    cp "$tmp/results/comm/link.csv" "$tmp/other" || return 1
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
        $(col["name"]) == "none" {
            n++
            for (c in col)
                if (c ~ /^latency_us/) $(col[c]) /= 1000
                else if (c ~ /busbw/) $(col[c]) *= 1000
        }
        { print }
        END { exit n == 0 }' "$tmp/results/comm/comm.csv" >"$tmp/other/comm.csv" || return 1
    "$scalebench" figures "$tmp/other/comm.csv" >/dev/null || return 1
    for figure in latency busbw; do
        cmp "$tmp/results/comm/$figure.svg" "$tmp/other/$figure.svg" || return 1
    done
}

# Every column of both tables has its row in the dictionary, in order.
explains_its_columns() {
    awk -F, 'NR > 1 && $1 ~ /^(comm|link).csv$/ { print $2 }' "$tmp/results/comm/columns.csv" |
        cmp - <(head -q -n 1 "$tmp/results/comm/"{comm,link}.csv | tr , '\n')
}

compares_in_a_table() {
    BUILD=$build OUT=$tmp/results MPIEXEC=$mpiexec expect 0 "times as fast as MPI_Allreduce" \
        ci/comm.sh --compare shm,mpi_allreduce --sizes 4KiB --models none --turns 3 &&
        [ -s "$tmp/results/comm/compare.csv" ]
}

check "what promises a sum gives one on 1 rank" sums_on 1 "${small[@]}"
check "what promises a sum gives one on 2 ranks" sums_on 2 "${small[@]}"
check "what promises a sum gives one on 3 ranks" sums_on 3 --sizes 400KiB --models softmax_784 --turns 2
check "every strategy is there" every_strategy_is_there
check "exact strategies are judged by their sums" exact_ones_sum
check "the header is the table of columns" header_is_the_table
check "numbers agree" numbers_agree
check "a wrong sum is found" finds_what_is_wrong
check "compressors keep what they promise" compressors_are_there
check "a wrong compressed sum is found" finds_what_is_wrong_compressed
check "two operations are compared" compares_two
check "the best are timed anew" names_the_best
check "operations take turns in groups" takes_turns_in_groups
check "a signal stops it" stops_when_asked
check "what is left is said" says_what_is_left
check "a plan says how long it takes" plans
check "what was stopped goes on, and is not mixed" goes_on
check "what was killed goes on" goes_on_after_a_kill
check "it starts anew when asked" starts_anew
check "the table is written" writes_its_table
check "curves are drawn" draws
check "one rank has no bus to draw" draws_one_rank
check "axes span what is drawn" axes_span_what_is_drawn
check "columns are explained" explains_its_columns
check "a comparison is a table" compares_in_a_table
check "a table that is no sweep's is refused" expect 2 "known: comm.csv" "$scalebench" table "$tmp/results/comm/columns.csv"
check "an unknown option names the nearest" expect 2 "value is missing; nearest '--sizes'" "$sweep" --size 4B
check "an unknown operation is named" expect 2 "nearest 'ring'" "$sweep" --compare rign,shm
check "an unknown algorithm is named" expect 2 "known: auto" "$sweep" --compare shm,mpi_allreduce/rng
check "an unknown variant is named" expect 2 "known: usual" "$sweep" --compare gather_scatter/x,shm
check "an operation beside itself is no comparison" expect 2 "--compare: 'ring' is listed twice" "$sweep" --compare ring,ring
check "a size is given once" expect 2 "--sizes: '4B' is listed twice" "$sweep" --sizes 4B,8B,4B
check "a sweep trains nothing" expect 2 "--train.lr has no effect on a sweep" "$sweep" --train.lr 3
check "two operations are no choice" expect 2 "--strategies has no effect beside --compare" \
    "$sweep" --compare ring,shm --strategies tree
check "what is spoilt is timed" expect 2 "--spoil: 'ring' is not in --strategies" "$sweep" --strategies tree --spoil ring
check "one operation is no comparison" expect 2 "two operations" "$sweep" --compare shm
check "a compressor goes where it is taken" expect 2 "takes no compressor" "$sweep" --compare ring+fp16,shm
check "an unknown compressor is named" expect 2 "nearest 'fp16'" "$sweep" --compress fp61
check "what is swept is no option" expect 2 "--compress picks" "$sweep" --sync.compress fp16
check "an unknown strategy is named" expect 2 "nearest 'ring'" "$sweep" --strategies rign
check "an unknown network is named" expect 2 "lenet_21k" "$sweep" --sizes none --models lenet_22k
check "a size without a unit is refused" expect 2 "as 64KiB" "$sweep" --sizes 64
check "a size of nothing is refused" expect 2 "4B..4GiB" "$sweep" --sizes 0B
check "an unknown way of waiting is named" expect 2 "known: block" "$sweep" --wait blok
check "no turns are refused" expect 2 "1..100000" "$sweep" --turns 0
check "a segment out of range is refused" expect 2 "8B" "$sweep" --sync.segment 1B
finish
