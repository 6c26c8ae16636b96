#!/usr/bin/env bash
# Tests figures: of a campaign, drawn again, drawn from tables alone, beside published values; and the campaigns of the
# reports.
# cores: 1
# seconds: 40
set -u
. bench/tests/lib/tap.sh

kinds=(time speedup efficiency breakdown bars accuracy epochs epoch_time total_time)
latest=$tmp/results/kinds/latest

published() { # value of the second row
    printf '# a report\nranks,seconds,accuracy\n1,10,98.5\n2,%s,97\n' "$1" >"$tmp/table.csv"
}
published 6
cat >"$tmp/kinds.yaml" <<END
name: kinds
scaling: strong
model: softmax_784
data: {set: digits, samples: 2000}
train: {optimizer: adam, lr: 1e-3, global_batch: 1000, epochs: 2}
matrix: {ranks: [1, 2, 1000], place.oversubscribe: [allow, refuse]}
exclude:
  - {ranks: 1, place.oversubscribe: refuse}
  - {ranks: 2, place.oversubscribe: refuse}
  - {ranks: 1000, place.oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 4, launches: 2..2}
  accuracy: {seeds: [1, 2]}
bars: rss_mib
published: {file: $tmp/table.csv, values: [total_s_median = seconds, test_acc_pct = accuracy]}
differs: ["It's another net, \"larger\"."]
figures: [time, speedup, efficiency, breakdown, bars, accuracy, epochs, epoch_time, total_time]
END

pictures_are_there() { # folder
    local kind ending
    for kind in "${kinds[@]}"; do
        for ending in svg png pdf; do
            [ -s "$1/$kind.$ending" ] || {
                echo "$1/$kind.$ending is missing"
                return 1
            }
        done
        [ "$(wc -l <"$1/series_$kind.csv")" -gt 1 ] || return 1
    done
}

draws_every_kind() {
    expect 0 "published total_s_median" "$scalebench" run "$tmp/kinds.yaml" --out "$tmp/results" &&
        pictures_are_there "$latest"
}

# Figures of other numbers or other scripts are redrawn by the same command.
old_figures_are_drawn_again() {
    cp "$latest/time.png" "$tmp/time.png" && echo old >"$latest/time.svg" && echo old >"$latest/time.png"
    expect 0 "figures" "$scalebench" run "$tmp/kinds.yaml" --out "$tmp/results" &&
        cmp "$latest/time.png" "$tmp/time.png" && grep -q 'time per step' "$latest/time.svg"
}

figures_that_are_missing_are_not_listed() {
    rm "$latest"/accuracy.*
    expect 0 "breakdown,bars,epochs,epoch_time,total_time}.{svg,png,pdf}" "$scalebench" table "$latest"
}

# Each process writes files of its own and renames complete ones.
several_programs_draw_one_run() {
    local i jobs=()
    for i in 1 2 3 4 5; do
        "$scalebench" figures "$latest" >"$tmp/figures.$i" 2>&1 &
        jobs+=($!)
    done
    for i in 1 2 3 4 5; do
        wait "${jobs[i - 1]}" || {
            cat "$tmp/figures.$i"
            return 1
        }
    done
    pictures_are_there "$latest" && cmp "$latest/time.png" "$tmp/time.png" &&
        ! compgen -G "$latest/.*[a-z]" >/dev/null
}

# Files of a killed program are removed, files of a running one are not.
abandoned_files_are_removed() {
    local status
    mkdir "$latest/.part-killed" "$latest/.part-at-work" && touch "$latest/.part-killed/time.svg"
    flock "$latest/.part-at-work" "$scalebench" figures "$latest" || return 1
    [ ! -e "$latest/.part-killed" ] && [ -d "$latest/.part-at-work" ]
    status=$?
    rmdir "$latest/.part-at-work"
    return "$status"
}

# Prints the cell of column $2 in the row of $3 ranks in figure $1.
cell() {
    python3 - "$latest/series_$1.csv" "$2" "$3" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as f:
    print(next(row[sys.argv[2]] for row in csv.DictReader(f) if row["ranks"] == sys.argv[3]))
PY
}

series_agree_with_the_tables() {
    local summary
    summary=$(python3 -c 'import csv, sys
row = next(r for r in csv.DictReader(open(sys.argv[1])) if r["ranks"] == "2")
print(row["step_ms_median"], row["test_acc_pct"], row["total_s_median"])' "$latest/summary.csv")
    echo "$summary"
    [ "$(cell time value 2) $(cell accuracy value 2) $(cell total_time value 2)" = "$summary" ] &&
        [ "$(cell total_time published 2)" = 6 ] && [ "$(cell total_time n 2)" = 2 ] &&
        [ -z "$(cell time value 1000)" ] && [ "$(cell time status 1000)" = skipped ]
}

generated_data_stand_alone() {
    grep -q 'Published accuracy' "$latest/accuracy.txt" && [ -z "$(cell accuracy published 2)" ]
}

says() { # folder
    "$scalebench" table "$1" 2>/dev/null | sed "s#$1#RUN#; /^  tables /d; /^  next /d; /^Read from /d"
}

# In another folder, without launches and journal, the tables give the same figures and the same summary.
tables_suffice() {
    local kind file
    mkdir -p "$tmp/tables"
    for file in spec.yaml manifest.json summary.csv raw.csv epochs.csv; do
        cp "$latest/$file" "$tmp/tables" || return 1
    done
    cp -r "$latest/published" "$tmp/tables" || return 1
    expect 0 "total_time.pdf" "$scalebench" figures "$tmp/tables" || return 1
    pictures_are_there "$tmp/tables" || return 1
    for kind in "${kinds[@]}"; do
        cmp "$latest/series_$kind.csv" "$tmp/tables/series_$kind.csv" || return 1
        cmp "$latest/$kind.png" "$tmp/tables/$kind.png" || return 1
    done
    diff <(says "$latest") <(says "$tmp/tables")
}

reference_is_drawn_again() {
    cp -r results/reference/strong_scaling "$tmp/reference" && rm -f "$tmp"/reference/*.svg
    expect 0 "speedup.svg" "$scalebench" figures "$tmp/reference" &&
        grep -q 'keras_690k (690,590 parameters)' "$tmp/reference/speedup.txt"
}

# Coefficients of bench-comm beside the campaigns give a model line if they are of this host and the spec does not disable
# it.
model_line_follows_the_coefficients() {
    local comm=$tmp/results/comm/latest
    mkdir -p "$comm"
    printf '%s\n' coefficient,value,lo,hi alpha_us,1,1,1 beta_ns_per_byte,1,1,1 gamma_ns_per_byte,1,1,1 \
        ranks,2,, nodes,1,, "host,$(hostname),," date,2026-11-21,, >"$comm/link.csv"
    [ -z "$(cell time model 2)" ] && ! grep -q 'link.csv' "$latest/time.txt" || return 1
    expect 0 "time.svg" "$scalebench" figures "$tmp/kinds.yaml" --out "$tmp/results" || return 1
    [ -n "$(cell time model 2)" ] && [ -n "$(cell breakdown model_ms 2)" ] &&
        [ -z "$(cell time model 1000)" ] && grep -q '2026-11-21' "$latest/time.txt" || return 1
    sed -i 's/^host,.*/host,elsewhere,,/' "$comm/link.csv"
    expect 0 "link.csv was measured on host elsewhere" env SCALEBENCH_LOG=detail \
        "$scalebench" figures "$tmp/kinds.yaml" --out "$tmp/results" || return 1
    [ -z "$(cell time model 2)" ] && ! grep -q 'elsewhere' "$latest/time.txt"
}

# --set changes the figures of a folder or a spec, and for a spec selects the run.
set_says_what_is_drawn() {
    cp -r "$tmp/tables" "$tmp/set" && rm "$tmp"/set/*.{svg,png,pdf,txt}
    expect 0 "set/bars.svg" "$scalebench" figures "$tmp/set" \
        --set "figures=[bars] bars=read_s caption=none" || return 1
    [ ! -e "$tmp/set/time.svg" ] && grep -q 'time to open the data' "$tmp/set/bars.svg" &&
        ! grep -q 'softmax_784' "$tmp/set/bars.svg" || return 1
    expect 0 "time.svg" "$scalebench" figures "$tmp/kinds.yaml" --out "$tmp/results" \
        --set "caption=full figures=[time]" && ! grep -q bars "$tmp/expect.log" &&
        grep -q 'softmax_784 (7,850 parameters)' "$latest/time.svg"
}

# Legends that are wider than a column continue in the next line, complete.
long_names_have_lines() {
    local series="sync.strategy, train.optimizer, model, data.set, train.lr, train.global_batch"
    expect 0 "long.svg" "$scalebench" figures results/reference/strong_scaling --output "$tmp/long" \
        --set "caption=none figures=[{kind: line, name: long, x: ranks, y: step_ms, series: [$series]}]" || return 1
    sed -nE 's/.*<text>(<tspan[^>]*>)?([^<]+)<.*/\2/p' "$tmp/long/long.svg" >"$tmp/long.texts"
    cat "$tmp/long.texts"
    grep -x -A1 "allreduce, optimizer adam, model keras_690k, set" "$tmp/long.texts" |
        grep -x "mnist, lr 0.001, global_batch 256" && [ "$(wc -L <"$tmp/long.texts")" -le 49 ]
}

set_changes_no_run() {
    expect 2 "--set train.epochs: $tmp/set is already measured" \
        "$scalebench" figures "$tmp/set" --set train.epochs=7 || return 1
    expect 2 "--set ranks: $tmp/set is already measured" "$scalebench" figures "$tmp/set" --set "matrix.ranks=[1]" || return 1
    expect 2 "no run of this campaign with these values yet" \
        "$scalebench" figures "$tmp/kinds.yaml" --out "$tmp/results" --set train.lr=0.5
}

set_finds_the_run_with_its_values() {
    local spec=$tmp/two.yaml run
    printf 'name: two\nmodel: softmax_784\ndata: {set: digits, samples: 200}\nranks: 1\n%s\n' \
        'train: {global_batch: 50}
measure: {time: {warmup_steps: 1, steps: 2, launches: 1..1}}
figures: [time]' >"$spec"
    expect 0 "" "$scalebench" run "$spec" --out "$tmp/results" --set train.lr=0.125 || return 1
    run=$(readlink "$tmp/results/two/latest")
    sleep 1
    expect 0 "" "$scalebench" run "$spec" --out "$tmp/results" || return 1
    expect 0 "two/$run/time.svg" "$scalebench" figures "$spec" --out "$tmp/results" --set train.lr=0.125
}

missing_tables_are_named() {
    cp -r "$tmp/tables" "$tmp/torn" && rm "$tmp/torn/raw.csv"
    expect 2 "raw.csv: cannot be read" "$scalebench" figures "$tmp/torn" || return 1
    sed -i 2d "$tmp/torn/summary.csv"
    expect 2 "2 rows, but spec.yaml in the same folder has 3 points" "$scalebench" figures "$tmp/torn"
}

malformed_file_is_named_before_anything_runs() {
    published soon
    expect 2 "table.csv:4: seconds: 'soon' is not a number" \
        "$scalebench" run "$tmp/kinds.yaml" --out "$tmp/fresh" && [ ! -e "$tmp/fresh" ]
}

reports_are_found() {
    local config
    for config in reports/wang_yang/table2.yaml reports/naik_yadav/table1 weak_scaling.yaml; do
        expect 0 "points" "$scalebench" plan "$config" --out "$tmp/results" || return 1
    done
    expect 0 "reports/wang_yang/table2.yaml" "$scalebench" list configs &&
        expect 2 "nearest 'reports/wang_yang/table2'" "$scalebench" plan reports/wang_yang/table3
}

# Free figures of the committed accuracy runs: epochs beside published ones, points by name, published values alone.
any_column_is_drawn() {
    local dir=$tmp/any
    cp -r results/reference/accuracy "$dir" && rm -f "$dir"/*.svg
    expect 0 "any/loss.svg" "$scalebench" figures "$dir" --set "figures=[\
{kind: line, name: loss, y: train_loss, x: epoch, where: ranks = 2, title: One curve, \
published: {file: wang_yang_epochs.csv, name: theirs, keys: [epoch = epoch + 1], values: [train_loss]}}, \
{kind: line, name: gpu, y: seconds, x: epoch, where: ranks = 999, \
published: {file: wang_yang_gpu.csv, name: GPU, keys: [epoch = epoch + 1], values: [seconds = time_s]}}, \
{kind: line, y: test_acc_pct, series: [], shape: bars}]" || return 1
    grep -q '>One curve<' "$dir/loss.svg" && grep -q '>theirs<' "$dir/loss.svg" &&
        ! grep -q 'ranks=4' "$dir/series_loss.csv" &&
        grep -q '^2,theirs,published,,,,,,5,5,0,,,,0.1719$' "$dir/series_loss.csv" &&
        [ "$(wc -l <"$dir/series_loss.csv")" = 11 ] && [ "$(wc -l <"$dir/series_gpu.csv")" = 6 ] &&
        [ -s "$dir/line.png" ]
}

# Prints rows of a series file without curve, name and label, which differ between runs.
rows_of() { # series file, run
    python3 - "$1" "$2" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as f:
    for row in csv.DictReader(f):
        if row["name"].startswith(sys.argv[2]):
            print(row["point"], *(row[key] for key in ("ranks", "n", "value", "lo", "hi")))
PY
}

# Runs are named by campaign, and copies by folder; each keeps its own values.
several_runs_share_a_figure() {
    local dir=$tmp/joined name
    mkdir -p "$dir" && cp -r results/reference/{strong_scaling,efficiency} "$dir" || return 1
    cp -r results/reference/strong_scaling "$dir/again"
    expect 0 "$dir/figures/strong_scaling+efficiency/speedup.svg" "$scalebench" figures \
        strong_scaling "$dir/efficiency" --out "$dir" --set "figures=[time,speedup]" || return 1
    for name in strong_scaling efficiency; do
        expect 0 "" "$scalebench" figures "$dir/$name" --set "figures=[speedup]" || return 1
        diff <(rows_of "$dir/$name/series_speedup.csv" "" | sort) \
            <(rows_of "$dir/figures/strong_scaling+efficiency/series_speedup.csv" "$name" | sort) || return 1
    done
    expect 0 "$tmp/both/wait.png" "$scalebench" figures "$dir/strong_scaling" "$dir/again" --output "$tmp/both" \
        --set "figures=[time,{kind: line, name: wait, y: wait_ms, series: run, where: ranks = 2 and sync.strategy = allreduce}]" || return 1
    grep -q '>again, allreduce<' "$tmp/both/time.svg" &&
        grep -q '>strong_scaling<' "$tmp/both/wait.svg" && grep -q '>again<' "$tmp/both/wait.svg" &&
        [ ! -e "$dir/again/wait.svg" ]
}

wrong_runs_of_figures_are_named() {
    expect 2 "figures: 'results/reference/strong_scaling' is the run results/reference/strong_scaling, which is given twice" \
        "$scalebench" figures strong_scaling results/reference/strong_scaling --out "$tmp/results" || return 1
    expect 2 "'nowhere' is not a run" "$scalebench" figures strong_scaling nowhere --out "$tmp/results" &&
        expect 2 'has no figures. Use --set "figures=' "$scalebench" figures efficiency peer --out "$tmp/results" --set "figures=[]"
}

# A published file that only a figure uses is copied to the run, so that it is complete.
a_run_keeps_the_files_of_its_figures() {
    local spec=$tmp/alone.yaml dir=$tmp/results/alone/latest
    printf 'layer,count\ntotal,7000\nhidden,5\n' >"$tmp/layers.csv"
    cat >"$spec" <<END
name: alone
model: softmax_784
data: {set: digits, samples: 100}
ranks: 1
train: {global_batch: 10}
measure: {time: {launches: 0}}
figures:
  - {kind: line, name: layers, y: params, file: layers, x: layer, shape: bars,
     published: {file: $tmp/layers.csv, name: theirs, keys: [layer], values: [params = count]}}
END
    expect 0 "layers" "$scalebench" run "$spec" --out "$tmp/results" || return 1
    rm "$tmp/layers.csv" "$spec" && mv "$(realpath "$dir")" "$tmp/moved" && rm "$tmp/moved/series_layers.csv"
    expect 0 "moved/layers.svg" "$scalebench" figures "$tmp/moved" || return 1
    grep -q '^2,theirs,published,.*,7000$' "$tmp/moved/series_layers.csv" &&
        grep -q '^Network softmax_784 as defined; nothing was measured.*layers.csv' "$tmp/moved/layers.txt"
}

# For a ratio without a value, names the baseline if it has no time.
says_why_a_figure_is_empty() {
    local dir=$tmp/lacks file
    cp -r results/reference/strong_scaling "$dir" || return 1
    expect 2 "peer_ratio: it compares with another program, but no point has a peer" "$scalebench" figures "$dir" \
        --set "figures=[{kind: line, name: peers, y: peer_ratio}]" || return 1
    for file in summary raw; do
        awk -F, -v OFS=, '
            { gsub(/"[^"]*"/, "quoted") }
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "clock_error_us") clock = i }
            NR > 1 { $clock = "" }
            { print }' "results/reference/strong_scaling/$file.csv" >"$dir/$file.csv"
    done
    expect 0 "figure clocks is empty: no timed launch has a value" "$scalebench" figures "$dir" \
        --set "figures=[{kind: line, name: clocks, y: clock_error_us}]" || return 1
    awk -F, -v OFS=, '
        { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i }
        NR > 1 { for (i = 1; i <= NF; i++) {
            if (name[i] ~ /^(speedup|efficiency|karp)/) $i = ""
            if (NR == 2 && name[i] ~ /^(step_ms|images_per_s|ci_level)/) $i = ""
            if (NR == 2 && name[i] == "status") $i = "failed"
            if (NR == 2 && name[i] == "reason") $i = "no luck" } }
        { print }' results/reference/strong_scaling/summary.csv >"$dir/summary.csv"
    expect 0 "figure speedup is empty: the base was not measured, ranks=1 none (failed: no luck); run the campaign again, or choose another base with baseline:" \
        "$scalebench" figures "$dir" --set "figures=[speedup]"
}

# Waiting is 0 on one rank, no link.csv exists, and no launch lasts 30 s.
runs_say_what_is_not_drawn() {
    printf '%s\n' 'name: absent' 'model: softmax_784' 'data: {set: digits, samples: 512}' 'train: {global_batch: 64}' 'ranks: 1' \
        'measure: {time: {launches: 1..1}, resources: 30s}' 'figures:' '  - {kind: line, name: curve, y: wait_ms, y_scale: log}' \
        '  - {kind: bars, y: wait_ms, y_scale: log}' '  - {kind: line, name: modelled, y: step_ms, model: true}' >"$tmp/absent.yaml"
    "$scalebench" run "$tmp/absent.yaml" --out "$tmp/results" >"$tmp/absent.log" 2>&1 || { cat "$tmp/absent.log" && return 1; }
    grep "figure modelled cannot show a model line: comm/latest/link.csv not found" "$tmp/absent.log" &&
        grep "resources.csv has no rows: every launch was shorter than measure.resources = 30s. Use a shorter interval" "$tmp/absent.log" &&
        ! grep "gnuplot failed" "$tmp/absent.log" && grep "no wait (ms) above 0" "$tmp/results/absent/latest/curve.svg" &&
        [ -s "$tmp/results/absent/latest/bars.svg" ]
}

# Nothing is written until all are checked.
wrong_options_of_figures_are_named() {
    local dir=$tmp/wrong
    cp -r results/reference/accuracy "$dir" && echo before >"$dir/summary.md" || return 1
    expect 2 "figures.y = wait_mz: neither a quantity nor a column of numbers; nearest 'wait_ms'" \
        "$scalebench" figures "$dir" --set "figures=[{kind: line, y: wait_mz}]" || return 1
    expect 2 "figures: 'yy' is unknown; nearest 'y'" \
        "$scalebench" figures "$dir" --set "figures=[{kind: line, yy: step_ms}]" || return 1
    expect 2 "figures.name: 'a/b' is not a valid file name" \
        "$scalebench" figures "$dir" --set "figures=[{kind: line, name: a/b}]" || return 1
    expect 2 "found 3 points at case = , with different values of ranks, " "$scalebench" figures "$dir" \
        --set "figures=[accuracy, {kind: line, x: case, y: test_loss, series: train.lr}]" || return 1
    expect 2 "published.keys: results/published/wang_yang_gpu.csv:2: column 'epochs' is unknown; nearest 'epoch'" \
        "$scalebench" figures "$dir" --set "figures=[accuracy, \
{kind: line, x: epoch, y: seconds, published: {file: wang_yang_gpu.csv, keys: [epoch = epochs], values: [seconds = time_s]}}]" || return 1
    [ "$(cat "$dir/summary.md")" = before ] && [ ! -e "$dir/series_accuracy.csv" ] || return 1
    expect 2 "figures.where = ranks = 99: no point of the spec matches" "$scalebench" figures "$dir" \
        --set "figures=[{kind: line, y: test_loss, where: ranks = 99}]" || return 1
    expect 2 "figures.y = step_ms: this campaign has no steps.csv. One row per step and rank of every timed launch. Written if measure.steps_csv is true" \
        "$scalebench" figures "$dir" --set "figures=[{kind: line, x: step, y: step_ms}]" || return 1
    expect 2 "comm.csv is a sweep table and cannot be combined with --set. Leave --set out" \
        "$scalebench" figures results/reference/comm/comm.csv --set title=x || return 1
    expect 0 "Quantity of the x axis" "$scalebench" explain figures.x
}

# A campaign whose figures would be empty is reported before it runs.
figures_without_values_are_refused() {
    local figure why spec=$tmp/lacking.yaml
    while read -r figure; do
        read -r why
        cat >"$spec" <<END
name: lacking
model: softmax_784
data: {set: digits, samples: 100}
${points:-ranks: 1}
train: {global_batch: 10}
measure: {$measured}
figures: [$figure]
END
        expect 2 "$why" "$scalebench" plan "$spec" || return 1
    done
}

timed_figures_are_refused() {
    local measured='time: {steps: 3}'
    figures_without_values_are_refused <<'END'
accuracy
:7:11: figures.y = test_acc_pct: it needs accuracy runs, but measure.accuracy.seeds is []. Give one seed per run, such as [1, 2, 3]
epochs
:7:11: figures.y = test_acc_pct: it needs accuracy runs, but measure.accuracy.seeds is []
resources
:7:11: figures.y = cpu_useful_pct: this campaign has no resources.csv. 
{kind: line, y: step_ms, where: ranks = 2}
:7:43: figures.where = ranks = 2: no point of the spec matches
{kind: line, y: step_ms, where: rank > 1}
:7:43: figures.where = rank > 1: 'rank' is unknown; nearest 'ranks'
{kind: line, y: step_ms, file: sumary}
:7:42: figures.file = sumary: 'sumary' is unknown; nearest 'summary'; known: summary raw
{kind: bars, y: overlap_share}
:7:27: figures.y = overlap_share: it needs measure.replay, which is 0 at every point; see `scalebench explain measure.replay`
{kind: line, y: wait_ms, model: true}
:7:43: figures.model = true: has no effect: the model has no such quantity
{kind: line, x: test_loss, y: step_ms_median}
:7:27: figures.x = test_loss: it needs accuracy runs, but measure.accuracy.seeds is []
{kind: bars, y: comm_replay_ms}
:7:27: figures.y = comm_replay_ms: it needs measure.replay, which is 0 at every point
{kind: bars, y: peer_ratio}
:7:27: figures.y = peer_ratio: it compares with another program, but no point has a peer. Add points with workload = peer_torch
{kind: line, y: step_ms, where: step_ms < 5}
:7:43: figures.where = step_ms < 5: 'step_ms' is unknown
{kind: line, y: step_ms, where: step_ms_median = fast}
:7:43: figures.where = step_ms_median = fast: step_ms_median is a number: expected a number, found 'fast'
{kind: line, y: step_ms, where: label > 3}
:7:43: figures.where = label > 3: label has no order. Use = or !=
{kind: line, y: step_ms, where: test_acc_pct > 90}
:7:43: figures.where = test_acc_pct > 90: it needs accuracy runs, but measure.accuracy.seeds is []
END
}

accuracy_figures_are_refused() {
    local measured='time: {launches: 0}, accuracy: {seeds: [1]}'
    figures_without_values_are_refused <<'END'
time
:7:11: figures.y = step_ms: it needs timed launches, but measure.time.launches is 0..0. Give a number, such as 6
{kind: bars, y: recovery_s}
:7:27: figures.y = recovery_s: it needs restart.budget, which is 0 at every point
{kind: line, y: to_target_s}
:7:27: figures.y = to_target_s: it needs train.target_acc_pct, which is 0 at every point
END
}

figure_options_without_effect_are_refused() {
    local measured='time: {steps: 3}' points='matrix: {ranks: [1, 2]}'
    figures_without_values_are_refused <<'END'
{kind: line, y: step_ms, x: train.lr}
:7:39: figures.x = train.lr: all points have one value; expected an option that points differ in
{kind: speedup, series: [ranks]}
:7:35: figures.series = ["ranks"]: x is among the series
{kind: time, shape: bars}
:7:31: figures.shape = bars: has no effect on this kind
{kind: line, y: step_ms, shape: bars, x_scale: log}
:7:58: figures.x_scale = log: has no effect on bars and names
{kind: line, y: bytes_wire, model: true}
:7:46: figures.model = true: has no effect: the model has no such quantity
END
}

conditions_of_one_file_are_refused() {
    local measured='time: {steps: 3}, accuracy: {seeds: [1]}'
    figures_without_values_are_refused <<'END'
{kind: line, y: [step_ms, seconds], where: epoch > 1}
:7:54: figures.where = epoch > 1: 'epoch' is unknown
END
}

check "every kind of figure is drawn" draws_every_kind
check "old figures are drawn again" old_figures_are_drawn_again
check "figures that are missing are not listed" figures_that_are_missing_are_not_listed
check "several programs draw the figures of one run at once" several_programs_draw_one_run
check "files left by a killed program are removed" abandoned_files_are_removed
if command -v python3 >/dev/null; then
    check "series hold the numbers of the tables" series_agree_with_the_tables
    check "published accuracy is not shown beside generated data" generated_data_stand_alone
else
    skip "series hold the numbers of the tables" "no python3"
fi
check "figures are drawn from the tables alone" tables_suffice
check "an empty figure states the reason" says_why_a_figure_is_empty
check "a run names missing curves and samples" runs_say_what_is_not_drawn
check "any column is drawn over anything, beside published values and these alone" any_column_is_drawn
if command -v python3 >/dev/null; then
    check "several runs share a figure, with the values of each alone" several_runs_share_a_figure
else
    skip "several runs share a figure, with the values of each alone" "no python3"
fi
check "operands that are not runs and specs without figures are refused" wrong_runs_of_figures_are_named
check "a run keeps the files of its figures" a_run_keeps_the_files_of_its_figures
check "wrong options of figures are named" wrong_options_of_figures_are_named
check "figures without values are refused where nothing trains" timed_figures_are_refused
check "and where nothing is timed" accuracy_figures_are_refused
check "an option of a figure that changes nothing is refused" figure_options_without_effect_are_refused
check "a condition is on rows of every file that a figure shows" conditions_of_one_file_are_refused
if command -v python3 >/dev/null; then
    check "a model line follows from coefficients" model_line_follows_the_coefficients
else
    skip "a model line follows from coefficients" "no python3"
fi
check "the committed reference is drawn again" reference_is_drawn_again
check "--set selects the figures" set_says_what_is_drawn
check "long names go on in the next line of a legend" long_names_have_lines
check "--set changes no run" set_changes_no_run
check "--set finds the run with its values" set_finds_the_run_with_its_values
check "tables that are missing or short are named" missing_tables_are_named
check "a malformed published file is named" malformed_file_is_named_before_anything_runs
check "campaigns of the reports are found" reports_are_found
check "cases of a report that are one point share its launches" expect 0 \
    "shares the launches of as published epochs=1" "$scalebench" plan reports/naik_yadav/fig1_3
finish
