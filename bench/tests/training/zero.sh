#!/usr/bin/env bash
# Tests the stages of ZeRO: a rank's memory for parameters, gradients and optimizer state equals the forecast of
# `scalebench plan`, and its bytes follow the formulas.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/zero.yaml" <<'SPEC'
name: zero
model: vgg11_bn
data: {set: shapes, samples: 16}
train: {optimizer: adam, global_batch: 4}
sync: {cap_mib: 1}
matrix: {ranks: [2, 4], sync.strategy: [allreduce, shm], sync.zero: [0, 1, 2, 3]}
exclude: [sync.strategy = shm and sync.zero < 2]
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 1, steps: 1, launches: 1..1}}
figures: [memory]
SPEC

forecasts() {
    "$scalebench" plan "$tmp/zero.yaml" --out "$tmp/results" --format csv >"$tmp/plan.csv"
}

runs() {
    "$scalebench" run "$tmp/zero.yaml" --out "$tmp/results"
}

# N numbers of 4 bytes; six convolutions have tensors of more than 100000. The tolerance of 5 % covers whole pages and late
# prefetches. DeepSpeed's formulas, like stages 0 and 1, have no memory in transit. In shared memory nothing is sent.
memory_and_bytes_are_as_told() {
    python3 - "$tmp/plan.csv" "$tmp/results/zero/latest/summary.csv" <<'PY'
import csv, sys
plan, summary = ({r["point"]: r for r in csv.DictReader(open(f, newline=""))} for f in sys.argv[1:])
N, LARGE, MIB = 9231114, 9142272, 2**20
parts = ("params", "grads", "state")
seen = 0
for point, row in summary.items():
    p, stage = int(row["ranks"]), int(row["sync_zero"])
    for part in parts:
        assert abs(float(row[f"{part}_forecast_mib"]) / float(plan[point][f"{part}_mib"]) - 1) < 1e-8, (p, stage, part)
    forecast, measured, formula, error = (
        float(row[f"model_states_{name}"]) for name in ("forecast_mib", "mib", "formula_mib", "error_pct"))
    assert abs(measured - sum(float(row[f"{part}_mib"]) for part in parts)) < 1e-5, (p, stage, measured)
    assert abs(measured / forecast - 1) < 0.05 and abs(100 * (measured / forecast - 1) - error) < 1e-5, (p, stage, error)
    assert "memory_off" not in row["flags"], row["flags"]
    wanted = [16 * N, 8 * N + 8 * N / p, 4 * N + 12 * N / p, 16 * N / p][stage] / MIB
    assert abs(formula / wanted - 1) < 1e-5, (p, stage, formula, wanted)
    assert forecast >= formula - 1e-4, (p, stage, forecast, formula)
    pages = 0 if stage > 1 else forecast * MIB / 4096 - formula * MIB / 4096
    assert -1e-3 <= pages < 6, (p, stage, forecast, formula) # at the ends of three arenas
    sent = 2 * N * (p - 1) / p + (LARGE * (p - 1) / p if stage == 3 else 0)
    sent *= row["strategy"] != "shm"
    assert abs(float(row["bytes_wire"] or 0) - 4 * sent) <= 4e-5 * sent, (p, stage, row["bytes_wire"], sent)
    seen += 1
assert seen == 12, seen
PY
}

# Every tensor is gathered. An operation holds all of its tensors while the next weights arrive, up to sync.cap_mib, late on a
# busy machine.
cat >"$tmp/all.yaml" <<'SPEC'
name: all
model: vgg11_bn
data: {set: shapes, samples: 16}
train: {global_batch: 4}
sync: {zero: 3, zero_persist: 0, cap_mib: 4}
zip: {ranks: [2, 4, 4, 2], sync.strategy: [allreduce, allreduce, shm, allreduce], kernels.plan: [fast, fast, fast, reference]}
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 1, steps: 1, launches: 1..1}}
figures: []
SPEC

tensors_of_an_op_are_told() {
    "$scalebench" run "$tmp/all.yaml" --out "$tmp/results" || return 1
    python3 - "$tmp/results/all/latest/summary.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == 4, len(rows)
for row in rows:
    for part in ("params", "grads", "state"):
        measured, forecast = float(row[f"{part}_mib"]), float(row[f"{part}_forecast_mib"])
        late = 4 if part == "params" else 0.05 * forecast
        assert forecast - late <= measured <= 1.05 * forecast, (row["point"], part, measured, forecast)
PY
}

# Networks of 21840 and 7850 numbers: 5 % or 8 pages of 4 KiB, since an arena may begin anywhere in a page.
cat >"$tmp/small.yaml" <<'SPEC'
name: small
data: {set: digits, samples: 16}
train: {optimizer: adam, global_batch: 6}
sync: {zero_persist: 0}
matrix: {model: [lenet_21k, softmax_784], ranks: [2, 3], sync.strategy: [allreduce, shm], sync.zero: [1, 2, 3]}
exclude: [sync.strategy = shm and sync.zero < 2]
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 1, steps: 1, launches: 1..1}}
figures: []
SPEC

small_nets_are_told_in_pages() {
    "$scalebench" run "$tmp/small.yaml" --out "$tmp/results" || return 1
    python3 - "$tmp/results/small/latest/summary.csv" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == 20, len(rows)
for row in rows:
    measured, forecast = float(row["model_states_mib"]), float(row["model_states_forecast_mib"])
    pages = (measured - forecast) * 256
    print(row["label"], *(row[f"{x}_mib"] + "/" + row[f"{x}_forecast_mib"] for x in ("params", "grads", "state")),
        f"{forecast * 256:.1f} pages forecast, {pages:+.1f}")
    assert abs(pages) <= 8 or abs(measured / forecast - 1) <= 0.05, (row["label"], measured, forecast)
    assert "memory_off" not in row["flags"], row["flags"]
PY
}

# Names in the figure end with the error.
the_figure_shows_the_three() {
    local latest=$tmp/results/zero/latest
    grep -q '>formula<' "$latest/memory.svg" && grep -q '>forecast<' "$latest/memory.svg" &&
        grep -q '>measured<' "$latest/memory.svg" && [ "$(grep -cE ', [+-][0-9.]+ %<' "$latest/memory.svg")" = 12 ] &&
        [ "$(wc -l <"$latest/series_memory.csv")" = 13 ]
}

check "memory is forecast" forecasts
check "every stage runs" runs
check "memory and bytes of a rank agree with the forecast" memory_and_bytes_are_as_told
check "an op has all its tensors" tensors_of_an_op_are_told
check "memory pages of small networks agree with the forecast" small_nets_are_told_in_pages
check "a figure shows the forecast beside the measurement" the_figure_shows_the_three
finish
