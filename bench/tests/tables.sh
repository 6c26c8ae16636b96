#!/usr/bin/env bash
# Reads every CSV file of a real campaign with the tools of users, and checks each file against its dictionary.
# cores: 1
# seconds: 30
set -u
. bench/tests/lib/tap.sh
. ci/files.sh
. bench/tests/lib/committed.sh

cat >"$tmp/tables.yaml" <<END
name: tables
scaling: strong
model: softmax_784
data: {set: digits, samples: 2000}
train: {optimizer: adam, lr: 1e-3, global_batch: 1000, epochs: 2}
matrix:
  ranks: [1, 2, 1000]
  place.oversubscribe: [refuse, allow]
exclude:
  - {ranks: 1, place.oversubscribe: allow}
  - {ranks: 2, place.oversubscribe: refuse}
  - {ranks: 1000, place.oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 4, launches: 2..2}
  accuracy: {seeds: [1, 2]}
  steps_csv: true
figures: []
END

latest=$tmp/results/tables/latest
files=(summary raw epochs classes steps losses rules layers columns)

completes() {
    local file
    expect 0 "skipped" "$scalebench" run "$tmp/tables.yaml" --out "$tmp/results" || return 1
    "$scalebench" run "$tmp/tables.yaml" --out "$tmp/results" 2>/dev/null >"$tmp/ran.txt" || return 1
    for file in "${files[@]}"; do
        [ -s "$latest/$file.csv" ] || {
            echo "$file.csv is missing"
            return 1
        }
    done
}

# Checks that rows are as wide as the header, names are unique, cells have the type and columns the order of columns.csv, and
# every file has an entry.
cat >"$tmp/check.py" <<'END'
import csv, re, sys
folder, files = sys.argv[1], sys.argv[2:]
types = {
    "TEXT": r"[^\n\"]*",
    "INT": r"(-?[0-9]+)?",
    "REAL": r"(-?[0-9]+(\.[0-9]+)?(e[+-][0-9]+)?|NaN|-?Inf)?",
    "BOOL": r"[01]?",
}
def read(name):
    with open(f"{folder}/{name}.csv", newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f, strict=True))
    return rows[0], rows[1:]
header, dictionary = read("columns")
known = {}
for row in dictionary:
    entry = dict(zip(header, row))
    assert len(row) == len(header), row
    assert entry["type"] in types and entry["meaning"], row
    known.setdefault(entry["file"], []).append((entry["column"], entry["type"]))
# No foreign program is measured here, so there is no metrics.csv; no curve has four rank counts, so there is no fits.csv.
assert sorted(known) == sorted(["fits.csv", "metrics.csv", "resources.csv", "segments.csv", "timeline.csv"] + [f"{name}.csv" for name in files]), sorted(known)
for name in files:
    columns = known[f"{name}.csv"]
    header, rows = read(name)
    assert header == [column for column, _ in columns], (name, header)
    assert len(set(header)) == len(header), (name, header)
    assert rows, name
    for line, row in enumerate(rows, 2):
        assert len(row) == len(columns), (name, line, len(row), len(columns))
        for (column, kind), cell in zip(columns, row):
            assert re.fullmatch(types[kind], cell), (name, line, column, kind, cell)
    print(name, len(rows), "rows")
END

fits_the_dictionary() {
    python3 "$tmp/check.py" "$latest" "${files[@]}"
}

# Tests that the check can fail: an extra cell, and a text instead of a number.
finds_what_does_not_fit() {
    local file=$latest/epochs.csv damage
    cp "$file" "$tmp/epochs.csv"
    # shellcheck disable=SC2016 # for sed
    for damage in '2s/$/,1/' '2s/,[^,]*\(,[^,]*,[^,]*\)$/,good\1/' '1s/seed/epoch/' '2s/,[^,]*$//'; do
        sed "$damage" "$tmp/epochs.csv" >"$file"
        if fits_the_dictionary; then
            echo "not found: $damage"
            return 1
        fi
    done
    cp "$tmp/epochs.csv" "$file"
}

# The run and its machine come first. Lines below the table are paragraphs; the twelve rules with a header come last.
is_a_document() {
    local caches
    caches=$(sed -n 's/^ *"caches": "\(.*\)",$/\1/p' "$latest/manifest.json")
    [ "$(head -n 1 "$latest/summary.md")" = '# tables' ] && grep -q '^Command: .*scalebench run ' "$latest/summary.md" &&
        grep -q '^Begun 20..-..-.. ..:.. UTC on .*'"${caches:+, caches $caches}"'.* cores; Linux ' "$latest/summary.md" || return 1
    grep -q '^| ranks |' "$latest/summary.md" && [ "$(sed '/^Rules of/,$d' "$latest/summary.md" | grep -c '^|')" -eq 5 ] &&
        [ "$(sed '1,/^Rules of/d' "$latest/summary.md" | grep -c '^|')" -eq 14 ] &&
        grep -q '^Base: ' "$latest/summary.md" &&
        [ "$(head -n 1 "$latest/summary.tex")" = '\noindent\textbf{tables}' ] &&
        [ "$(grep -cF '\begin{tabular}' "$latest/summary.tex")" -eq 1 ] &&
        [ "$(grep -cxF '\end{tabular}' "$latest/summary.tex")" -eq 1 ] &&
        grep -q '^.noindent Base: ' "$latest/summary.tex"
}

rows() { # file
    echo $(($(wc -l <"$latest/$1.csv") - 1))
}

# Two points run and one is skipped: two timed launches and two seeds each, two epochs per seed, ten classes, five steps per
# launch and rank.
has_every_row() {
    rows summary && rows raw && rows epochs && rows classes && rows steps && rows losses
    [ "$(rows summary)" -eq 3 ] && [ "$(rows raw)" -eq 8 ] && [ "$(rows epochs)" -eq 8 ] &&
        [ "$(rows classes)" -eq 40 ] && [ "$(rows steps)" -eq $((2 * 5 * (1 + 2))) ]
}

# Counts of classes add up to the test set, and to the accuracy of the last epoch in epochs.csv.
adds_up() {
    python3 - "$latest" <<'END'
import csv, sys
def read(name):
    with open(f"{sys.argv[1]}/{name}.csv", newline="") as f:
        return list(csv.DictReader(f))
last = {row["launch"]: float(row["test_acc_pct"]) for row in read("epochs") if row["epoch"] == "2"}
launches = {}
for row in read("classes"):
    samples, correct = launches.get(row["launch"], (0, 0))
    launches[row["launch"]] = samples + int(row["samples"]), correct + int(row["correct"])
assert len(launches) == 4 and launches.keys() == last.keys(), launches
for launch, (samples, correct) in launches.items():
    assert samples == 10000, (launch, samples)
    assert abs(100 * correct / samples - last[launch]) < 1e-6, (launch, correct, last[launch])
# Ranks of one step have equal weights; steps have different ones.
hashes = {}
for row in read("steps"):
    hashes.setdefault((row["launch"], row["epoch"], row["step"]), set()).add(row["hash"])
assert all(len(h) == 1 and "" not in h for h in hashes.values()), hashes
assert len(set.union(*hashes.values())) > 1
END
}

loads_in_gnuplot() {
    local file
    for file in "${files[@]}"; do
        gnuplot -e "set datafile separator comma; set key autotitle columnhead;
            set terminal dumb; set output '$tmp/dumb.txt';
            plot '$latest/$file.csv' using 0:(strlen(strcol(1)))" || return 1
    done
    # Checks the mean of a column: blank rows would be points at 0.
    gnuplot -e "set datafile separator comma; stats '$latest/epochs.csv' using 'epoch' nooutput;
        if (STATS_records != 8 || STATS_mean != 1.5) { exit status 1 }"
}

loads_in_pandas() {
    "$(python_with pandas)" - "$latest" "${files[@]}" <<'END'
import sys, pandas
folder = sys.argv[1]
kinds = {r.file + ":" + r.column: r.type for r in pandas.read_csv(f"{folder}/columns.csv").itertuples()}
for name in sys.argv[2:]:
    table = pandas.read_csv(f"{folder}/{name}.csv")
    for column in table.columns:
        kind = kinds[f"{name}.csv:{column}"]
        if kind != "TEXT":
            assert pandas.api.types.is_numeric_dtype(table[column]), (name, column)
END
}

# shellcheck disable=SC2016 # R's own dollars
loads_in_r() {
    Rscript -e 'a <- commandArgs(TRUE); d <- read.csv(file.path(a[1], "columns.csv"))' \
        -e 'for (f in a[-1]) { t <- read.csv(file.path(a[1], paste0(f, ".csv")))' \
        -e 'n <- d$column[d$file == paste0(f, ".csv") & d$type != "TEXT"]' \
        -e 'stopifnot(all(sapply(t[n], function(x) is.numeric(x) || all(is.na(x))))) }' \
        "$latest" "${files[@]}"
}

again_runs_nothing_and_mends() {
    local before
    before=$(cat "$latest/journal.jsonl")
    cp "$latest/classes.csv" "$tmp/classes.csv"
    rm "$latest/classes.csv"
    "$scalebench" run "$tmp/tables.yaml" --out "$tmp/results" || return 1
    cmp "$tmp/classes.csv" "$latest/classes.csv" && [ "$before" = "$(cat "$latest/journal.jsonl")" ]
}

# Prints the lines below the table, without those that name files and the folder.
says() { # folder, table
    sed "s#$1#RUN#; /^  tables /d; /^  next /d; /^Read from /d" "$2"
}

# Tables alone print the same text as the campaign at its end, and drawing does not change them.
prints_from_tables() {
    local copy=$tmp/copy
    mkdir "$copy"
    cp "$latest"/*.csv "$latest/spec.yaml" "$latest/manifest.json" "$copy"
    expect 0 "Read from $copy/summary.csv" "$scalebench" table "$copy" || return 1
    "$scalebench" table "$copy" 2>/dev/null >"$tmp/copy.txt"
    grep -q 'Weights are equal on all ranks after every step' "$tmp/copy.txt" &&
        grep -qE '^Efficiency (lost|gained)' "$tmp/copy.txt" && grep -q 'core-hours' "$tmp/copy.txt" || return 1
    diff <(says "$latest" "$tmp/ran.txt") <(says "$copy" "$tmp/copy.txt") || return 1
    "$scalebench" figures "$copy" && cmp "$copy/summary.csv" "$latest/summary.csv" || return 1
    rm "$copy/summary.csv"
    expect 2 "$copy/summary.csv: table not found" "$scalebench" table "$copy"
}

# The sentence below the table states the row of losses.csv.
says_what_the_losses_are() {
    python3 - "$latest/losses.csv" "$tmp/ran.txt" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
said = [line for line in open(sys.argv[2]) if line.startswith(("Efficiency lost", "Efficiency gained"))]
assert len(rows) == len(said) == 1 and rows[0]["ranks"] == "2" and rows[0]["largest"] == "1", rows
row, lost = rows[0], float(rows[0]["lost_pct"])
assert said[0].startswith(f"Efficiency {'gained' if lost < 0 else 'lost'} at 2 ranks"), (row, said)
assert f": {abs(lost):.1f} %" in said[0], (row, said)
parts = sum(float(row[part + "_pct"] or 0) for part in ("comm", "wait", "compute", "optimizer", "other"))
assert abs(parts - lost) < 1e-6, row
assert (row["doubt"] in said[0]) if row["doubt"] else "Karp-Flatt" in said[0], (row, said)
END
}

# Compares a report's network with ours: equal, unequal, and a missing layer.
stands_beside_a_summary() {
    local theirs=$tmp/summary.csv
    grep -q '^softmax_784,total,,,7850,15680,' "$latest/layers.csv" || return 1
    expect 0 "the same, layer by layer" "$scalebench" model keras_690k --published wang_yang_model.csv || return 1
    sed 's/,36992,/,36864,/' results/published/wang_yang_model.csv >"$theirs"
    expect 1 "36864  conv2         128x11x11            36992  differs" \
        "$scalebench" model keras_690k --published "$theirs" || return 1
    expect 2 "$theirs:3: column ours: layer 'conv1' not found in network softmax_784" \
        "$scalebench" model softmax_784 --published "$theirs" || return 1
    expect 2 "'nowhere.csv' not found" "$scalebench" model softmax_784 --published nowhere.csv
}

# A published file with only a header has no rows for `where` of a figure. No cell may be read then.
takes_names_alone() {
    printf 'ranks,ms\n' >"$tmp/names.csv"
    sed "s/^figures: .*/figures: [{kind: line, y: step_ms, published: {file: names.csv, keys: [ranks],\
        values: [step_ms = ms], where: ms > 1}}]/" "$tmp/tables.yaml" >"$tmp/names.yaml"
    MALLOC_PERTURB_=165 expect 0 "points" "$scalebench" plan "$tmp/names.yaml" --out "$tmp/results" &&
        expect 2 "'m' is unknown" "$scalebench" plan "$tmp/names.yaml" --out "$tmp/results" \
            --set "figures=[{kind: line, y: step_ms, published: {file: $tmp/names.csv, keys: [ranks], values: [step_ms = ms], where: m > 1}}]"
}

prints_what_is_committed() {
    expect 0 "$(interval 3 speedup speedup 2 allreduce)" "$scalebench" table results/reference/strong_scaling
}

explains() {
    expect 0 "step_ms_median in summary.csv" "$scalebench" explain step_ms_median &&
        expect 0 "unit     ms" "$scalebench" explain step_ms_median &&
        expect 0 "seed in classes.csv" "$scalebench" explain seed &&
        expect 0 "passed to the workload" "$scalebench" explain seed &&
        expect 0 "kernel    rows and columns of the kernel: one number or [rows, columns]; 1..64; required" \
            "$scalebench" explain conv2d &&
        expect 0 "shapes    [C, H, W] to [channels, (H + 2 pad - kernel) / stride + 1" "$scalebench" explain conv2d &&
        expect 0 "maxpool2d" "$scalebench" list layers &&
        expect 0 "allreduce, one of the strategies" "$scalebench" explain allreduce &&
        expect 0 "sync.variant  plain (default) pickled" "$scalebench" explain reduce_bcast &&
        expect 0 "usual plain pickled linear mpich" "$scalebench" explain sync.variant &&
        expect 0 "of gather_scatter: Every rank" "$scalebench" list variants &&
        expect 0 "21840 parameters" "$scalebench" explain lenet_21k &&
        expect 2 "nearest 'step_ms_median'" "$scalebench" explain step_ms_medain
}

# Sums and parts of bars are columns of a series file. Committed runs cover kinds of figures without numbers here. Names of
# columns are unique.
draws_every_kind_of_column() {
    local run word
    for run in overlap past_stragglers kota_fig1; do
        cp -rL "results/reference/$run" "$tmp/$run" && "$scalebench" figures "$tmp/$run" || return 1
    done
    local sums='y: [cpu_pct, cpu_pct + foreign_pct, forward_ms + backward_ms + optimizer_ms]'
    expect 0 "" "$scalebench" figures "$latest" --set "figures=[breakdown, memory, time, epochs, classes, accuracy, bars,
        {kind: line, name: sums, $sums}, {kind: line, name: losses, y: train_loss + test_loss, x: epoch},
        {kind: line, name: model, y: step_ms, model: true}]" || return 1
    grep -q 'cpu_pct+foreign_pct,cpu_pct+foreign_lo,' "$latest/series_sums.csv" &&
        grep -q ',step_ms_model$' "$latest/series_model.csv" || return 1
    for word in "$tmp"/*/series_*.csv "$latest"/series_*.csv; do
        [ -z "$(head -n 1 "$word" | tr , '\n' | sort | uniq -d)" ] || return 1
    done
}

# Lists columns of every CSV file, heads of tables, and flags, of all committed runs and of the campaign here, without options of
# one's own.
explains_every_word() {
    local word
    draws_every_kind_of_column || return 1
    {
        for word in $(source_files 'results/reference/*.csv') "$latest"/*.csv "$tmp"/*/{series,dots}_*.csv; do grep -m 1 '^[a-z]' "$word" | tr , '\n'; done
        for word in $(source_files 'results/reference/*/summary.md'); do grep -m 1 '^|' "$word" | tr '|' '\n'; done |
            sed -E 's/\\//g; s/^ +| *(\[.*)?$//g; s/^published .+/published/'
        "$scalebench" explain flags | grep -oE '[a-z_]+ \(' | tr -d ' ('
        printf '%s\n' busy ci_not_met dropped_channels data_zeros blocks Karp-Flatt diverged nth curve
    } | sort -u | grep . >"$tmp/heads"
    # options of one's own have no text
    grep -hoE 'workload\.options\.[a-z_]+' results/reference/*/spec.yaml | sed 'p; s/.*\.//' | sort -u >"$tmp/own_options"
    grep -vxFf "$tmp/own_options" "$tmp/heads" >"$tmp/words"
    [ "$(wc -l <"$tmp/words")" -gt 350 ] || return 1
    while read -r word; do
        "$scalebench" explain "$word" >/dev/null </dev/null || {
            echo "no $word"
            return 1
        }
    done <"$tmp/words"
}

check "a campaign writes every file" completes
check "every row is there" has_every_row
check "the table is there for documents" is_a_document
if command -v python3 >/dev/null; then
    check "every file fits the dictionary" fits_the_dictionary
    check "models that do not fit are found" finds_what_does_not_fit
    check "the sentence below the table is in a file" says_what_the_losses_are
    check "classes add up to epochs, hashes are equal over ranks" adds_up
else
    lacks "every file fits the dictionary" python3
fi
check "gnuplot loads every file" loads_in_gnuplot
if python_with pandas >/dev/null; then
    check "pandas loads every file" loads_in_pandas
else
    lacks "pandas loads every file" pandas
fi
if command -v Rscript >/dev/null; then
    check "R loads every file" loads_in_r
else
    lacks "R loads every file" R
fi
check "a file that is missing is written again" again_runs_nothing_and_mends
check "the table prints from tables alone" prints_from_tables
check "the table of a committed result prints" prints_what_is_committed
check "a network is printed beside a published summary" stands_beside_a_summary
check "a published file without rows" takes_names_alone
check "columns, networks and strategies are explained" explains
check "every word of tables and columns is explained" explains_every_word
# ---- The twelve rules at the end of a report; --strict fails if one is broken ----

cat >"$tmp/rules.yaml" <<'YAML'
name: rules
scaling: strong
model: softmax_784
data: {set: digits}
train: {global_batch: 64}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 20, launches: 6..6}
figures: [time, speedup]
differs: [two ranks wherever this test runs]
YAML

rules=$tmp/results/rules/latest

run=("$scalebench" run "$tmp/rules.yaml" --out "$tmp/results")

not_met() {
    grep -c ',not met,' "$rules/rules.csv"
}

meets_all() {
    expect 0 "" "${run[@]}" --strict || return 1
    "${run[@]}" --strict >"$tmp/told" 2>/dev/null && grep -q '^Rules of Hoefler and Belli: 12 of 12 met\.$' "$tmp/told" &&
        [ "$(wc -l <"$rules/rules.csv")" -eq 13 ] && [ "$(not_met)" -eq 0 ] &&
        grep -q '^| 12 | .* | met | ' "$rules/summary.md"
}

# set, number of the rule
breaks() {
    expect 1 "--strict: 1 of 12 rules of Hoefler and Belli not met" "${run[@]}" --strict --set "$1" || return 1
    cat "$rules/rules.csv"
    [ "$(not_met)" -eq 1 ] && grep -q "^$2,.*,not met," "$rules/rules.csv"
}

is_told_without_strict() {
    expect 0 "" "${run[@]}" --set "differs=[] data.samples=500" &&
        grep -q '^2,.*,not met,data.samples: 500' "$rules/rules.csv"
}

check "a whole run meets twelve of twelve" meets_all
check "eleven rules are met without an accuracy bound" breaks "figures=[bars]" 11
check "images left out for no reason: eleven" breaks "data.samples=500 differs=[]" 2
check "a single launch: eleven" breaks "measure.time.launches=1..1 seed=2" 5
check "rules that are not met are reported without --strict" is_told_without_strict

finish
