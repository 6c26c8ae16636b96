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
few="data.set=digits data.samples=1024"

draws_in() { # campaign, report, spec, SET, then figure:letters ...
    local name=$1 report=$2 spec=$3 set=$4
    shift 4
    expect 0 "figures" "$scalebench" run "configs/reports/$report/$spec.yaml" --out "$tmp/results" \
        --set "$set" && holds "$tmp/results/$name/latest" "$@"
}

draws() { # report, spec, SET, then figure:letters ...
    draws_in "$1_$2" "$@"
}

# A spec that shows another one's campaign launches nothing that this one has launched.
views() { # campaign, report, spec, SET, then figure:letters ...
    local raw=$tmp/results/$1/latest/raw.csv before
    before=$(wc -l <"$raw")
    draws_in "$@" && [ "$(wc -l <"$raw")" = "$before" ]
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

net="model=softmax_784"

naik_table1() {
    draws naik_yadav table1 "$tiny $data cases.PyTorch.matrix.ranks=[1]" bars:mp speedup:m accuracy:m epochs:m &&
        cases_are naik_yadav_table1 "as published,corrected,PyTorch"
}
naik_fig1_3() {
    draws naik_yadav fig1_3 "$untimed $data" real:mp user:mp sys:mp lines:m &&
        cases_are naik_yadav_fig1_3 "as published,corrected"
}
naik_fig4() {
    draws naik_yadav fig4 "$timed $data" speedup:mp efficiency:mp breakdown:m &&
        cases_are naik_yadav_fig4 "dense,CNN,dense shm"
}
naik_batches() {
    draws naik_yadav batches "$tiny $data matrix.train.global_batch=[128,512]" step:m efficiency:m accuracy:m &&
        cases_are naik_yadav_batches "dense,CNN"
}
wang_fig1() {
    draws wang_yang fig1 "data.set=mnist" parameters:mp
}
wang_fig6() {
    draws wang_yang fig6 "$tiny $data $net" training:m epoch_seconds:mp gradient:mp &&
        cases_are wang_yang_fig6 "as published,corrected" &&
        [ "$(grep -c by_design "$tmp/results/wang_yang_fig6/latest/summary.csv")" = 1 ]
}
wang_fig7() {
    draws wang_yang fig7 "$timed $data $net" read:mp gradient:mp breakdown:m
}
wang_fig8() {
    draws wang_yang fig8 "$untimed $data $net" epoch_time:mp total_time:mp &&
        cases_are wang_yang_fig8 "as published,allreduce,PyTorch"
}
wang_accuracy() {
    draws wang_yang accuracy "$untimed $data $net train.epochs=1 matrix.ranks=[1,2]" accuracy:m loss:m table1:mp &&
        cases_are wang_yang_accuracy "as published,broadcast,warm-up"
}
wang_mpiio() {
    draws wang_yang mpiio "measure.time.launches=1..1 $data $net matrix.data.read=[all,mpiio]" read:mp memory:m
}
wang_gpu() {
    draws wang_yang gpu "$data $net" epoch_seconds:mp epochs:m
}
wang_table2() {
    draws wang_yang table2 "$tiny $few $net train.epochs=1" total_time:mp epoch_time:mp time:m &&
        cases_are wang_yang_table2 "as published,corrected,PyTorch"
}

wang_fig9() {
    views wang_yang_table2 wang_yang fig9 "$tiny $few $net train.epochs=1" epoch_by_nodes:mp total_by_nodes:mp step_by_nodes:mp
}

# For both scripts 2 nodes; the point itself here with two ranks.
wang_fig4() {
    local theirs=results/published/wang_yang_fig4.sbatch
    "$scalebench" submit configs/reports/wang_yang/fig4.yaml --site example --dry-run --out "$tmp/results" >"$tmp/job" &&
        diff <(grep '^#SBATCH --nodes' "$theirs") <(grep '^#SBATCH --nodes' "$tmp/job") &&
        draws wang_yang fig4 "$timed $data $net site=local nodes=1 ranks=2" breakdown:m
}

# Two ranks of this machine stand for the nodes.
shapes="data.set=shapes data.samples=256 model=vgg_mini site=local nodes=1 ranks=2"
kota="$untimed measure.time.launches=1..1 measure.time.warmup_steps=1 measure.time.steps=20 measure.resources=10ms \
    $shapes train.global_batch=64"

kota_parts() {
    draws kota parts "$kota" iteration:mp speedup:mp efficiency:mp accuracy:m test_loss:m loss:m &&
        cases_are kota_parts "part 1,part 2a,part 2b,part 3,part 2a replayed,part 2b replayed,part 3 replayed,corrected 1,corrected 2a,corrected 2b,corrected 3,PyTorch"
}
kota_fig1() {
    views kota_parts kota fig1 "$kota" cpu:m useful:m
}
kota_fig2() {
    views kota_parts kota fig2 "$kota" memory:m
}
kota_fig3() {
    views kota_parts kota fig3 "$kota" rate: calls:m
}
kota_fig4() {
    views kota_parts kota fig4 "$kota" received: step:
}
kota_fig8() {
    views kota_parts kota fig8 "$kota" iteration:mp breakdown:m calls:m
}
kota_fig12() {
    views kota_parts kota fig12 "$kota" accuracy:m test_loss:m
}
kota_fig11() {
    draws_in kota_parts kota fig11 "$kota" loss:m seeds:mp corrected:m
}
kota_fig5() {
    draws_in kota_buckets kota fig5 "$kota" step:m
}
kota_fig6() {
    draws_in kota_buckets kota fig6 "$kota" cpu:m
}
kota_fig7() {
    views kota_buckets kota fig7 "$kota" bytes:m
}
kota_fig9() {
    draws_in kota_batches kota fig9 "measure.accuracy.seeds=[1] ${shapes/=256/=1024}" accuracy:m
}
kota_fig10() {
    views kota_batches kota fig10 "measure.accuracy.seeds=[1] ${shapes/=256/=1024}" loss:m
}
kota_fig13() {
    draws_in kota_epochs kota fig13 "measure.accuracy.seeds=[1] $shapes train.epochs=2" accuracy:m
}
kota_fig14() {
    views kota_epochs kota fig14 "measure.accuracy.seeds=[1] $shapes train.epochs=2" loss:m
}
kota_fig15() {
    draws_in kota_async kota fig15 "$kota matrix.train.lr=[0.1]" iteration:m accuracy:m test_loss:m
}
kota_fig16() {
    views kota_async kota fig16 "$kota matrix.train.lr=[0.1]" bytes:m
}

amundkar_memory_mnist() {
    draws amundkar memory_mnist "$timed $data" memory:mp growth:m utilisation:mp
}
amundkar_memory_cifar10() {
    draws amundkar memory_cifar10 "$timed data.set=shapes data.samples=2000 matrix.ranks=[1]" memory:mp growth:m utilisation:mp
}
amundkar_throughput() {
    draws amundkar throughput "$timed $data" throughput:m efficiency:m
}
amundkar_accuracy_mnist() {
    draws amundkar accuracy_mnist "$untimed $data train.epochs=1" epochs:m seconds:m reached:m
}
amundkar_accuracy_cifar10() {
    draws amundkar accuracy_cifar10 "$untimed data.set=shapes data.samples=2000 train.epochs=1" epochs:m seconds:m reached:m
}
amundkar_per_class() {
    draws amundkar per_class "$untimed data.set=shapes data.samples=300 train.epochs=1" classes:m epochs:m
}
amundkar_hypothesis() {
    draws amundkar hypothesis "$timed $data matrix.train.global_batch=[32,512]" efficiency:m comm:m &&
        cases_are amundkar_hypothesis "7.9 K parameters,21.8 K parameters,691 K parameters"
}

check "every spec of the reports plans" every_spec_plans
check "the index names every spec" the_index_has_every_spec
for row in naik_table1 naik_fig1_3 naik_fig4 naik_batches wang_fig1 wang_fig6 wang_fig7 wang_fig8 \
    wang_accuracy wang_mpiio wang_gpu wang_table2 wang_fig9 wang_fig4 kota_parts kota_fig1 kota_fig2 \
    kota_fig3 kota_fig4 kota_fig8 kota_fig12 kota_fig11 kota_fig5 kota_fig6 kota_fig7 \
    kota_fig9 kota_fig10 kota_fig13 kota_fig14 kota_fig15 kota_fig16 amundkar_memory_mnist \
    amundkar_memory_cifar10 amundkar_throughput amundkar_accuracy_mnist amundkar_accuracy_cifar10 \
    amundkar_per_class amundkar_hypothesis; do
    check "$row runs and is drawn" "$row"
done
finish
