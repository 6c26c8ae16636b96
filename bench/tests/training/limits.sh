#!/usr/bin/env bash
# Tests the table of ops beside the limits of one core, as a campaign of few steps: its numbers, its order and its marks.
# tier: rest
# cores: 1
# seconds: 10
set -u
. bench/tests/lib/tap.sh

sweep=$build/kernel_sweep
run=$tmp/results/limits/latest

# Runs make without its builds; the inner make of bench-limits is printed.
by_make() { # the inner make, arguments
    env -u MAKEFLAGS make --no-print-directory MAKE="$1" BUILD="$build" OUT="$tmp/results" "${@:2}"
}

# The example of kernels/README.md.
example_runs() {
    local set
    set=$(sed -n 's/^make bench-limits SET="\(.*\)"$/\1/p' kernels/README.md) && [ -n "$set" ] || return 1
    by_make echo bench-limits | grep -q ' bench CONFIG=configs/limits.yaml$' || return 1
    by_make true bench CONFIG=configs/limits.yaml SET="$set" >"$tmp/example" && grep '^softmax_784, bf16: plan fast' "$tmp/example"
}

# One more network is measured, and tables of both are printed.
runs() {
    expect 0 "lenet_21k, bf16: plan fast" "$scalebench" run configs/limits.yaml --out "$tmp/results" \
        --set "workload.options.repeats=3 matrix.workload.options.net=[softmax_784,lenet_21k]" && cp "$tmp/expect.log" "$tmp/printed"
}

# Each network in each precision has its table, ordered by time, with the whole step as last row.
tables_are_printed() {
    cat "$tmp/printed"
    [ "$(grep -c ': plan fast, .*, batch 128, one core, best of 3 steps$' "$tmp/printed")" -eq 4 ] &&
        [ "$(grep -c '^step  *train .* 100.0 % ' "$tmp/printed")" -eq 4 ] &&
        grep -q '^Measured in turns with the ops, best of all: compute [0-9]' "$tmp/printed" &&
        grep -q '^dense_bytes fc  *forward ' "$tmp/printed" &&
        "$scalebench" table "$run/limits.csv" >"$tmp/table" && grep -Fxf "$tmp/table" "$tmp/printed" | cmp - "$tmp/table"
}

header_is_the_table() {
    awk -F, '$1 == "limits.csv" { print $2 }' "$run/columns.csv" | cmp - <(head -n 1 "$run/limits.csv" | tr , '\n')
}

# Numbers follow from the columns that they are computed from.
numbers_agree() {
    python3 - "$run/limits.csv" <<'PY'
import csv, sys
steps, rows = 0, []
for row in csv.DictReader(open(sys.argv[1])):
    for name in row:
        if name not in ("model", "plan", "isa", "precision", "op", "layers", "pass", "bound", "note"):
            row[name] = float(row[name] or "nan")
    if row["op"] != "step":
        rows.append(row)
        continue
    steps += 1
    near = lambda a, b: abs(a - b) <= 1e-5 * abs(b)
    for r in rows:
        compute = r["flop_done"] / r["unit_gflop_per_s"] / 1e6 if r["flop_done"] else 0
        unit = "l2" if r["bound"] == "compute" else r["bound"]
        loads = r["bytes"] / r[unit + "_gbyte_per_s"] / 1e6
        assert (compute > loads) == (r["bound"] == "compute"), r
        assert near(r["bound_ms"], max(compute, loads)), r
        assert near(r["distance"], r["time_ms"] / r["bound_ms"]), r
        assert near(r["share_pct"], 100 * r["time_ms"] / row["time_ms"]), r
        assert (r["note"] != "") == (r["share_pct"] > 5 and r["distance"] > 1.5), r
    times = [r["time_ms"] for r in rows]
    assert times == sorted(times, reverse=True), times
    assert {"loss", "update"} < {r["op"] for r in rows}
    assert near(row["bound_ms"], sum(r["bound_ms"] for r in rows)), row
    assert near(row["distance"], row["time_ms"] / row["bound_ms"]) and sum(times) <= row["time_ms"], row
    rows = []
assert steps == 4 and not rows, steps
PY
}

# The roofline is the figure of the same run, and a page has both tables once.
a_page_has_both_tables() {
    [ -s "$run/roofline.svg" ] && expect 0 "1 figure of 1 run" "$scalebench" report limits --out "$tmp/results" --output "$tmp/page.html" &&
        grep -q 'kernels-limits' "$tmp/page.html" &&
        [ "$("$scalebench" list sweeps --out "$tmp/results" | grep -c /limits/)" -eq 1 ]
}

# Rounded activations change the instruction set only if the processor multiplies bf16.
precision_is_a_column() {
    local set
    for set in fp32 bf16; do
        "$sweep" --model vgg_mini --batch 2 --repeats 1 --part limits --precision "$set" --record "$tmp" || return 1
        awk -F, -v set="$set" 'NR > 1 && $4 != set { bad = 1 } END { exit bad || NR < 10 }' "$tmp/limits.csv" || return 1
    done
}

# On a processor without products of bf16, activations are stored in bf16 and verdicts allow for it.
stores_bf16_without_its_products() {
    "$sweep" --model vgg_mini --batch 2 --repeats 1 --part limits --precision bf16 --isa portable --record "$tmp" &&
        awk -F, 'NR > 1 && ($3 != "portable" || $4 != "bf16") { bad = 1 } END { exit bad }' "$tmp/limits.csv"
}

other_parts_write_none() {
    mkdir "$tmp/ops" && "$sweep" --model softmax_784 --batch 2 --repeats 1 --part ops --record "$tmp/ops" &&
        [ -s "$tmp/ops/kernels.csv" ] && [ ! -e "$tmp/ops/limits.csv" ]
}

check "the example of the page" example_runs
check "a campaign" runs
check "each step has its table" tables_are_printed
check "the header is the table of columns" header_is_the_table
check "numbers agree" numbers_agree
check "a page has both tables" a_page_has_both_tables
check "precision is a column" precision_is_a_column
check "bf16 is stored without its products" stores_bf16_without_its_products
check "other parts write no limits" other_parts_write_none
check "an unknown precision is named" expect 2 "known: fp32 bf16" "$sweep" --model softmax_784 --precision fp17
finish
