#!/usr/bin/env bash
# Every figure and table of the reports: its spec plans; it runs with few launches of a small net and
# draws, each figure from measured and from published values.
set -u
. bench/tests/lib/tap.sh

every_spec_plans() {
    local spec
    for spec in configs/reports/*/*.yaml; do
        "$scalebench" plan "$spec" >"$tmp/plan.log" 2>&1 </dev/null && continue
        echo "$spec"
        cat "$tmp/plan.log"
        return 1
    done
}

the_index_has_every_spec() {
    diff <(cd configs/reports && printf '%s\n' */*.yaml | sed 's/[.]yaml$//' | sort) \
        <(grep '^|' configs/reports/README.md | cut -d'|' -f2 | grep -o '[a-z_]*/[a-z0-9_]*' | sort)
}

# Of series_<figure>.csv: m, a row has a measured value; p, one has a published value. Columns of a value
# are those with an interval, `value`, and `step_ms` of a bar of parts.
holds() { # folder, then figure:letters ...
    python3 - "$@" <<'PY'
import csv, os, sys
folder, wanted = sys.argv[1], sys.argv[2:]
for item in wanted:
    figure, letters = item.split(":")
    if os.path.getsize(f"{folder}/{figure}.svg") == 0:
        sys.exit(f"{figure}.svg is empty")
    with open(f"{folder}/series_{figure}.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    names = list(rows[0]) if rows else []
    published = [c for c in names if c == "published" or c.endswith("_published")]
    ends = ("_lo", "_hi", "_published")
    stems = [c[:-3] for c in names if c.endswith("_lo")]
    measured = [c for c in names if c in ("value", "step_ms") or not c.endswith(ends)
                and any(c.startswith(stem) for stem in stems)]
    for letter, columns in ("m", measured), ("p", published):
        if letter in letters and not any(r[c] for r in rows for c in columns):
            sys.exit(f"series_{figure}.csv has no value in {columns or names}")
PY
}

tiny="measure.accuracy.seeds=[1] measure.time.launches=1..1 measure.time.warmup_steps=1 measure.time.steps=4"
untimed="measure.accuracy.seeds=[1]"
timed="measure.time.launches=1..1 measure.time.warmup_steps=1 measure.time.steps=4"
data="data.set=digits data.samples=2000"

# A run draws its figures; one of another spec's campaign that is looked at launches nothing.
draws() { # campaign, report/spec, SET, then figure:letters ...
    local name=$1 spec=$2 set=$3
    shift 3
    expect 0 "figures" "$scalebench" run "configs/reports/$spec.yaml" --out "$tmp/results" \
        --set "$set" && holds "$tmp/results/$name/latest" "$@"
}

views() { # campaign, report/spec, SET, then figure:letters ...
    local raw=$tmp/results/$1/latest/raw.csv before
    before=$(wc -l <"$raw")
    draws "$@" && [ "$(wc -l <"$raw")" = "$before" ]
}

cases_are() { # run, then cases as summary.csv has them; calibrations have none
    local name=$1
    shift
    [ "$(python3 - "$tmp/results/$name/latest/summary.csv" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as f:
    print(",".join(dict.fromkeys(r["case"] for r in csv.DictReader(f) if r["case"])))
PY
)" = "$*" ]
}

# One figure or table of a report, or several of one spec.
row() { # draws or views, report/spec, campaign, SET, "figure:letters ...", cases where it has some
    local how=$1 spec=$2 campaign=$3 set=$4 figures=$5 cases=${6:-}
    # shellcheck disable=SC2086 # figures are words
    "$how" "$campaign" "$spec" "$set" $figures && { [ -z "$cases" ] || cases_are "$campaign" "$cases"; }
}

# Cases of a report's spec with a campaign of its own.
own() { # report/spec, SET, figures, cases
    check "$1 runs and is drawn" row draws "$1" "${1/\//_}" "${@:2}"
}

# Specs of one campaign: the first one launches, as do those that ask for more of it.
of() { # campaign, draws or views, report/spec, SET, figures, cases
    check "$3 runs and is drawn" row "$2" "$3" "$1" "${@:4}"
}

check "every spec of the reports plans" every_spec_plans
check "the index names every spec" the_index_has_every_spec

net="model=softmax_784"
own naik_yadav/table1 "$tiny $data cases.PyTorch.matrix.ranks=[1]" "bars:mp speedup:m accuracy:m epochs:m" \
    "as published,corrected,PyTorch"
own naik_yadav/fig1_3 "$untimed $data" "real:mp user:mp sys:mp lines:m" "as published,corrected"
own naik_yadav/fig4 "$timed $data" "speedup:mp efficiency:mp breakdown:m" "dense,CNN,dense shm"
own naik_yadav/batches "$tiny $data matrix.train.global_batch=[128,512]" "step:m efficiency:m accuracy:m" "dense,CNN"

own wang_yang/fig1 "data.set=mnist" "parameters:mp"
own wang_yang/fig6 "$tiny $data $net" "training:m epoch_seconds:mp gradient:mp" "as published,corrected"
the_flaw_is_flagged() {
    [ "$(grep -c by_design "$tmp/results/wang_yang_fig6/latest/summary.csv")" = 1 ]
}
check "what differs by design is flagged" the_flaw_is_flagged
own wang_yang/fig7 "$timed $data $net" "read:mp gradient:mp breakdown:m"
own wang_yang/fig8 "$untimed $data $net" "epoch_time:mp total_time:mp" "as published,allreduce,PyTorch"
own wang_yang/accuracy "$untimed $data $net train.epochs=1 matrix.ranks=[1,2]" "accuracy:m loss:m table1:mp" \
    "as published,broadcast,warm-up"
own wang_yang/mpiio "measure.time.launches=1..1 $data $net matrix.data.read=[all,mpiio]" "read:mp memory:m"
own wang_yang/gpu "$data $net" "epoch_seconds:mp epochs:m"
few="$tiny data.set=digits data.samples=1024 $net train.epochs=1"
own wang_yang/table2 "$few" "total_time:mp epoch_time:mp time:m" "as published,corrected,PyTorch"
of wang_yang_table2 views wang_yang/fig9 "$few" "epoch_by_nodes:mp total_by_nodes:mp step_by_nodes:mp"

# For both scripts 2 nodes; the point itself here with two ranks.
submits_as_they_did() {
    diff <(grep '^#SBATCH --nodes' results/published/wang_yang_fig4.sbatch) \
        <("$scalebench" submit configs/reports/wang_yang/fig4.yaml --site example --dry-run --out "$tmp/results" |
            grep '^#SBATCH --nodes')
}
check "wang_yang/fig4 is submitted as they did" submits_as_they_did
own wang_yang/fig4 "$timed $data $net site=local nodes=1 ranks=2" "breakdown:m"

# Two ranks of this machine stand for the nodes.
shapes="data.set=shapes data.samples=256 model=vgg_mini site=local nodes=1 ranks=2"
kota="$untimed measure.time.launches=1..1 measure.time.warmup_steps=1 measure.time.steps=20 measure.resources=10ms \
    $shapes train.global_batch=64"
replays="part 2a replayed,part 2b replayed,part 3 replayed"
own kota/parts "$kota" "iteration:mp speedup:mp efficiency:mp accuracy:m test_loss:m loss:m" \
    "part 1,part 2a,part 2b,part 3,$replays,corrected 1,corrected 2a,corrected 2b,corrected 3,PyTorch"
of kota_parts views kota/fig1 "$kota" "cpu:m useful:m"
of kota_parts views kota/fig2 "$kota" "memory:m"
of kota_parts views kota/fig3 "$kota" "rate: calls:m"
of kota_parts views kota/fig4 "$kota" "received: step:"
of kota_parts views kota/fig8 "$kota" "iteration:mp breakdown:m calls:m"
of kota_parts views kota/fig12 "$kota" "accuracy:m test_loss:m"
of kota_parts draws kota/fig11 "$kota" "loss:m seeds:mp corrected:m"
of kota_buckets draws kota/fig5 "$kota" "step:m"
of kota_buckets draws kota/fig6 "$kota" "cpu:m"
of kota_buckets views kota/fig7 "$kota" "bytes:m"
batches="$untimed ${shapes/=256/=1024}"
of kota_batches draws kota/fig9 "$batches" "accuracy:m"
of kota_batches views kota/fig10 "$batches" "loss:m"
epochs="$untimed $shapes train.epochs=2"
of kota_epochs draws kota/fig13 "$epochs" "accuracy:m"
of kota_epochs views kota/fig14 "$epochs" "loss:m"
async="$kota matrix.train.lr=[0.1]"
of kota_async draws kota/fig15 "$async" "iteration:m accuracy:m test_loss:m"
of kota_async views kota/fig16 "$async" "bytes:m"

colours="data.set=shapes data.samples=2000"
own amundkar/memory_mnist "$timed $data" "memory:mp growth:m utilisation:mp"
own amundkar/memory_cifar10 "$timed $colours matrix.ranks=[1]" "memory:mp growth:m utilisation:mp"
own amundkar/throughput "$timed $data" "throughput:m efficiency:m"
own amundkar/accuracy_mnist "$untimed $data train.epochs=1" "epochs:m seconds:m reached:m"
own amundkar/accuracy_cifar10 "$untimed $colours train.epochs=1" "epochs:m seconds:m reached:m"
own amundkar/per_class "$untimed data.set=shapes data.samples=300 train.epochs=1" "classes:m epochs:m"
own amundkar/hypothesis "$timed $data matrix.train.global_batch=[32,512]" "efficiency:m comm:m" \
    "7.9 K parameters,21.8 K parameters,691 K parameters"
finish
