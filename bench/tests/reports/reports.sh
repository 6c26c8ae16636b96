#!/usr/bin/env bash
# Tests the spec of every figure and table of the reports: it plans, runs with few launches of a small network, and draws each
# figure from measured and published values.
# tier: rest
# cores: 1
# seconds: 330
set -u
. bench/tests/lib/tap.sh

# Views are left out: they plan the points of the spec that they extend.
every_spec_plans() {
    local spec
    for spec in configs/reports/*/*.yaml; do
        ! grep -q '^extends: [a-z0-9_]*[.]yaml' "$spec" || continue
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

past_strategies_has_every_strategy() {
    diff <(sed -n 's/^  sync[.]strategy: \[\(.*\)\]$/\1/p' configs/reports/past/strategies.yaml | tr -d ' ' | tr ',' '\n' | sort) \
        <("$scalebench" list strategies | awk '{ print $1 }' | sort)
}

# Checks series_<figure>.csv: m, a row has a measured value; p, a row has a published value. Columns of values are those with
# an interval, `value`, `step_ms` of a bar of parts, and `measured_mib` beside a forecast.
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
    measured = [c for c in names if c in ("value", "step_ms", "measured_mib") or not c.endswith(ends)
                and any(c.startswith(stem) for stem in stems)]
    for letter, columns in ("m", measured), ("p", published):
        if letter in letters and not any(r[c] for r in rows for c in columns):
            sys.exit(f"series_{figure}.csv has no value in {columns or names}")
PY
}

# Runs a spec, which draws its figures; a view must launch nothing.
draws() { # campaign, report/spec, then figure:letters ...
    local name=$1 spec=$2
    shift 2
    expect 0 "quick form, no result" "$scalebench" run "configs/reports/$spec.yaml" --out "$tmp/results" \
        --set form=quick && holds "$tmp/results/${name}_quick/latest" "$@"
}

views() { # campaign, report/spec, then figure:letters ...
    local raw=$tmp/results/$1_quick/latest/raw.csv before
    before=$(wc -l <"$raw")
    draws "$@" && [ "$(wc -l <"$raw")" = "$before" ]
}

cases_are() { # run, then cases in the order of summary.csv; calibrations have none
    local name=$1
    shift
    [ "$(python3 - "$tmp/results/${name}_quick/latest/summary.csv" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as f:
    print(",".join(dict.fromkeys(r["case"] for r in csv.DictReader(f) if r["case"])))
PY
)" = "$*" ]
}

# One figure or table of a report, or several of one spec.
row() { # draws or views, report/spec, campaign, "figure:letters ...", cases if any
    local how=$1 spec=$2 campaign=$3 figures=$4 cases=${5:-}
    # shellcheck disable=SC2086 # figures are words
    "$how" "$campaign" "$spec" $figures && { [ -z "$cases" ] || cases_are "$campaign" "$cases"; }
}

# Tests a spec with a campaign of its own.
own() { # report/spec, figures, cases
    check "$1 runs and is drawn" row draws "$1" "${1/\//_}" "${@:2}"
}

# Tests specs of one campaign: the first launches, as do specs that need more. Those of kota need hosts.
of() { # campaign, draws or views, report/spec, figures, cases
    if [[ $3 == kota/* ]] && ! ci/netns.sh probe >/dev/null 2>&1; then
        lacks "$3 runs and is drawn" netns
        return
    fi
    check "$3 runs and is drawn" row "$2" "$3" "$1" "${@:4}"
}

# Checks that each option of column `ours` is in the command of a launch with its value.
honours_the_printed_configuration() {
    python3 - results/published/amundkar_config.csv "$tmp/results/amundkar_config_quick/latest" <<'PY'
import csv, glob, sys
rows = [row for row in csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")) if row["ours"]]
said = {word.lstrip("-") for path in glob.glob(f"{sys.argv[2]}/launches/*/*/command.txt") for word in open(path).read().split()
        if word.startswith("--")}
def same(one, other):
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other
assert len(rows) == 16 and said, (len(rows), said)
for row in rows:
    key, value = row["ours"].split("=")
    values = [word.split("=", 1)[1] for word in said if word.startswith(key + "=")]
    assert any(same(value, other) for other in values), (row["key"], key, value, values)
PY
}

# The specs above have a forecast and do not run again.
runs_all_by_one_command() {
    export QUICK=1 OUT=$tmp/results BUILD=$build
    REPORTS="wang_yang/fig7 naik_yadav/fig4" expect 0 "2 of 2 figures and tables" ci/reports.sh &&
        [ "$(grep -c "^[a-z_]*/fig[47]: .*; forecast: [0-9]" "$tmp/expect.log")" -eq 2 ] &&
        grep -q "^all: 2 figures and tables; forecast: [0-9]" "$tmp/expect.log" &&
        ! grep "launch 1 " "$tmp/expect.log" && [ -s "$tmp/results/reports/wang_yang_fig7_quick/read.svg" ] &&
        REPORTS=wang_yang/fig77 expect 2 "configs/reports/wang_yang/fig77.yaml not found" ci/reports.sh
}

# Keeps the runs above as results/reference does: tables and figures of each spec, large tables narrowed, equal files of views
# as links. All figures are then redrawn.
keeps_what_was_measured() {
    local kept=$tmp/kept file
    mkdir "$kept"
    QUICK=1 OUT=$tmp/results INTO=$kept BUILD=$build expect 0 "" \
        ci/references.sh measure kota/fig2 kota/parts kota/fig11 wang_yang/fig1 || return 1
    ! grep "launch 1 " "$tmp/expect.log" || return 1
    for file in kota_parts/{accuracy.svg,accuracy.txt,raw.csv,epochs.csv,spec.yaml,summary.md,manifest.json} \
        kota_fig2/{memory.svg,resources.csv,summary.md,spec.yaml} kota_loss/{loss.svg,steps.csv} wang_yang_fig1/layers.csv; do
        [ -s "$kept/$file" ] || { echo "no $file"; return 1; }
    done
    for file in summary.csv resources.csv manifest.json; do
        [ "$(readlink "$kept/kota_fig2/$file")" = "../kota_parts/$file" ] || { echo "no link $file"; return 1; }
    done
    [ ! -L "$kept/kota_fig2/spec.yaml" ] && [ ! -e "$kept/kota_fig2/accuracy.svg" ] || return 1
    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["rank"] != 0 || $c["loss"] == "" { exit 1 }' \
        "$kept/kota_loss/steps.csv" && ! head -n 1 "$kept/kota_loss/steps.csv" | grep -q hash || return 1
    for file in kota_fig2/memory kota_loss/loss; do
        cp -rL "$kept/${file%/*}" "$tmp/drawn" && rm "$tmp/drawn/${file#*/}.svg" &&
            "$scalebench" figures "$tmp/drawn" >/dev/null && cmp "$kept/$file.svg" "$tmp/drawn/${file#*/}.svg" || return 1
        rm -r "$tmp/drawn"
    done
}

# If a machine cannot run a kept point, its kept run is left alone; others are replaced. A run of a build without titles gets
# the spec's.
keeps_no_less() {
    local kept=$tmp/kept measured=$tmp/results/reports/wang_yang_fig7_quick before
    export QUICK=1 OUT=$tmp/results INTO=$tmp/kept BUILD=$build
    expect 0 "" ci/references.sh measure wang_yang/fig7 wang_yang/fig1 && cp -r "$measured" "$tmp/measured" || return 1
    before=$(cat "$kept/wang_yang_fig7/summary.csv")
    python3 - "$measured/summary.csv" <<'PY' || return 1
import csv, sys
with open(sys.argv[1], newline="") as f:
    rows = list(csv.DictReader(f))
[row for row in rows if row["status"] == "ok"][-1].update(status="skipped", reason="no such library, here")
with open(sys.argv[1], "w", newline="") as f:
    out = csv.DictWriter(f, rows[0])
    out.writeheader()
    out.writerows(rows)
PY
    expect 1 "cannot run here: 1; " ci/references.sh keep wang_yang/fig7 wang_yang/fig1 &&
        [ "$(cat "$kept/wang_yang_fig7/summary.csv")" = "$before" ] && ! grep -q "wang_yang/fig1:" "$tmp/expect.log" &&
        sed -i '/^title:/d' "$measured/spec.yaml" &&
        LESS=1 ci/references.sh keep wang_yang/fig7 && grep -q "skipped" "$kept/wang_yang_fig7/summary.csv" &&
        grep -q '^title: "Wang and Yang, figure 7' "$kept/wang_yang_fig7/spec.yaml" &&
        rm -r "$measured" && mv "$tmp/measured" "$measured"
}

# A SET adds points to the campaign; the figure still shows its own.
draws_its_own_points() {
    local table=$tmp/results/naik_yadav_fig4_quick/latest/summary.csv spec=configs/reports/naik_yadav/fig4.yaml points
    points=$(wc -l <"$table")
    "$scalebench" run "$spec" --out "$tmp/results" --set "form=quick matrix.seed=[1,2] measure.steps_csv=true" >/dev/null &&
        [ "$(wc -l <"$table")" -gt "$points" ] &&
        "$scalebench" figures "$spec" --out "$tmp/results" --set form=quick >/dev/null &&
        [ "$(wc -l <"$table")" -eq "$points" ]
}

check "every spec of the reports plans" every_spec_plans
check "the index names every spec" the_index_has_every_spec
check "past/strategies has every strategy" past_strategies_has_every_strategy

own naik_yadav/table1 "bars:mp speedup:m accuracy:m epochs:m" "as published,corrected,PyTorch"
own naik_yadav/fig1_3 "real:mp user:mp sys:mp lines:m" "as published,corrected"
own naik_yadav/fig4 "speedup:mp efficiency:mp breakdown:m" "dense,CNN,dense shm"
check "a spec is drawn with its own points, also behind more" draws_its_own_points
own naik_yadav/batches "step:m efficiency:m accuracy:m" "dense,CNN"

own wang_yang/fig1 "parameters:mp"
own wang_yang/fig6 "training:m epoch_seconds:mp gradient:mp" "as published,corrected"
the_flaw_is_flagged() {
    [ "$(grep -c by_design "$tmp/results/wang_yang_fig6_quick/latest/summary.csv")" = 1 ]
}
check "differences by design are flagged" the_flaw_is_flagged
own wang_yang/fig7 "read:mp gradient:mp breakdown:m"
own wang_yang/fig8 "epoch_time:mp total_time:mp" "as published,allreduce,PyTorch"
own wang_yang/accuracy "accuracy:m loss:m table1:mp" "as published,broadcast,warm-up"
own wang_yang/mpiio "read:mp memory:m"
own wang_yang/gpu "epoch_seconds:mp epochs:m"
own wang_yang/table2 "total_time:mp epoch_time:mp epoch_timed:mp gradient:mp time:m" "as published,corrected,their rate,their gradient,PyTorch"
of wang_yang_table2 views wang_yang/fig9 "epoch_by_nodes:mp total_by_nodes:mp step_by_nodes:mp step_here:m"

# 2 nodes for both scripts; here the point runs with two ranks.
submits_as_they_did() {
    diff <(grep '^#SBATCH --nodes' results/published/wang_yang_fig4.sbatch) \
        <("$scalebench" submit configs/reports/wang_yang/fig4.yaml --site example --set site=slurm --dry-run --out "$tmp/results" |
            grep '^#SBATCH --nodes')
}
check "wang_yang/fig4 is submitted as they did" submits_as_they_did
own wang_yang/fig4 "breakdown:m"

replays="part 2a replayed,part 2b replayed,part 3 replayed"
of kota_parts draws kota/parts "iteration:mp speedup:mp efficiency:mp accuracy:m test_loss:m" \
    "part 1,part 2a,part 2b,part 3,$replays,corrected 1,corrected 2a,corrected 2b,corrected 3,PyTorch 1,PyTorch 2a,PyTorch 2b,PyTorch 3"
of kota_parts views kota/fig1 "cpu:m useful:m"
of kota_parts views kota/fig2 "memory:m"
of kota_parts views kota/fig3 "rate:m calls:m"
of kota_parts views kota/fig4 "received:m step:m"
of kota_parts views kota/fig8 "iteration:mp breakdown:m calls:m"
of kota_parts views kota/fig12 "accuracy:m test_loss:m"
of kota_loss draws kota/fig11 "loss:m seeds:mp corrected:m"
of kota_buckets draws kota/fig5 "step:m"
of kota_buckets draws kota/fig6 "cpu:m"
of kota_buckets views kota/fig7 "bytes:m"
of kota_batches draws kota/fig9 "accuracy:m"
of kota_batches views kota/fig10 "loss:m"
of kota_batch_steps draws kota/fig9_steps "accuracy:m" "equal steps"
of kota_batch_rates draws kota/fig9_rates "accuracy:m" "rate by batch"
of kota_epochs draws kota/fig13 "accuracy:m"
of kota_epochs views kota/fig14 "loss:m"
of kota_async draws kota/fig15 "iteration:m accuracy:m test_loss:m"
of kota_async views kota/fig16 "bytes:m"

own amundkar/memory_mnist "memory:mp growth:m utilisation:mp"
own amundkar/memory_cifar10 "memory:mp growth:m utilisation:mp"
own amundkar/zero "memory:m params:m grads:m state:m bytes:m step:m"
own amundkar/throughput "throughput:m efficiency:m"
own amundkar/accuracy_mnist "epochs:m seconds:m reached:m"
own amundkar/accuracy_cifar10 "epochs:m seconds:m reached:m"
own amundkar/per_class "classes:m epochs:m"
own amundkar/mixed "accuracy:m epochs:m step:m bytes:m ratio:m" "lenet_21k,vgg_mini"
own amundkar/config "accuracy:m epochs:m types:m ratio:m bytes:m" "as printed,as written,accumulated"
check "the printed configuration is honoured entry by entry" honours_the_printed_configuration
own amundkar/model_parallel "step:m bubble:m memory:m tensor_step:m tensor_memory:m" \
    "whole,GPipe,1F1B,whole dense layers,tensor"
own amundkar/hypothesis "efficiency:m comm:m" "7.9 K parameters,21.8 K parameters,691 K parameters"

fits_two_links() {
    draws past_links past/links && python3 - "$tmp/results/past_links_quick/latest/link.csv" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as f:
    rows = list(csv.DictReader(f))
for link in ("shared_memory_vm", "tcp_vm"):
    of = {r["coefficient"]: r["value"] for r in rows if r["link"] == link}
    paces = [float(of[f"pace_{p}"]) for p in (0, 25, 50, 75, 90, 99, 100)]
    assert float(of["alpha_us"]) > 0 and paces == sorted(paces) and paces[0] <= 1 <= paces[-1], of
assert len(rows) == 28, len(rows)
PY
}

own past/peer "rate:m ratio:"
own past/scale "speedup_to_1024:m efficiency_lenet_21k:m efficiency_keras_690k:m efficiency_vgg11_bn:m"
own past/network "lenet_21k:m keras_690k:m vgg11_bn:m causes_vgg11_bn:"
own past/predict "errors_lenet_21k: errors_keras_690k: errors_vgg11_bn:"
if ci/netns.sh probe >/dev/null 2>&1; then
    check "past/links runs and fits two links with scatter" fits_two_links
else
    lacks "past/links runs and fits two links with scatter" netns
fi
own past/predict_10gbit "errors_lenet_21k: errors_keras_690k: errors_vgg11_bn:"
own past/own_kota "iteration:mp" "fitted without 2a,fitted without 3,part 2a,part 2b,part 3"
own past/own_wang_yang "epoch_timed:mp" "their rate,their gradient"
own past/own_naik_yadav "execution:mp"
own past/pinning "step:m tail:m switches:m" "one rank of two threads,two ranks"
own past/stragglers "step:m by_rank:m waiting:m timeline:"
own past/time_to_accuracy "seconds:m images:m effort:m" "fixed batch,growing batch"
own past/rate_by_batch "rates:m batches:m"
own past/noise_scale "images:m"
own past/crossover "one_node:m four_hosts:m" "one node,four hosts"

# Coefficients beside the campaigns are kept with the run, so that a figure of calls can be redrawn from it alone.
draws_the_model_of_calls() {
    local link=$tmp/results/comm/latest/link.csv latest=$tmp/results/past_crossover_quick/latest
    mkdir -p "${link%/*}"
    printf '%s\n' coefficient,value,lo,hi alpha_us,1000,, beta_ns_per_byte,0.1,, gamma_ns_per_byte,0.1,, ranks,2,, \
        nodes,1,, "host,$(uname -n),," "date,2026-11-23,," >"$link"
    QUICK=1 OUT=$tmp/results BUILD=$build REPORTS=past/crossover expect 0 "1 of 1 figures" ci/reports.sh || return 1
    cmp "$link" "$tmp/results/reports/past_crossover_quick/link.csv" && grep -q ">model<" "$latest/one_node.svg" &&
        grep -q "Model: messages and sums of the slowest rank, alpha 1e+03 us" "$latest/one_node.txt" || return 1
    # A step of four ranks: two rounds of messages of 1 ms.
    python3 - "$latest/series_one_node.csv" <<'PY' || return 1
import csv, sys
with open(sys.argv[1], newline="") as f:
    rows = [row for row in csv.DictReader(f) if row["name"] == "recursive_doubling"]
assert len(rows) == 2 and all(2 <= float(row["comm_replay_ms_model"]) < 2.2 for row in rows), rows
PY
    rm -r "${link%/*}"
}
check "the model of calls is drawn beside the measurements" draws_the_model_of_calls
own past/strategies "step_31_kb:m step_87_kb:m step_2_8_mb:m step_37_mb:m efficiency:m bytes:m" "31 KB,87 KB,2.8 MB,37 MB"
check "one command runs them all" runs_all_by_one_command
check "measured runs are kept spec by spec" keeps_what_was_measured
check "kept points that cannot run here are not lost" keeps_no_less
finish
