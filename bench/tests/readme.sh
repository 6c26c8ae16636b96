#!/usr/bin/env bash
# Tests that README and results/README.md state what the committed tables hold, rounded once.
# cores: 1
set -u
. bench/tests/lib/tap.sh

reference=results/reference

# Writes the table of a committed run to $tmp/table.
table() { # name
    "$scalebench" table "$reference/$1" >"$tmp/table" || { cat "$tmp/table"; return 1; }
}

says() { # text
    grep -qF -- "$1" "$tmp/table" || { echo "the table does not say: $1"; cat "$tmp/table"; return 1; }
}

the_example_is_a_printed_one() {
    table strong_scaling || return 1
    awk '/^    strong_scaling  / { inside = 1 } inside && /^$/ { exit } inside { print substr($0, 5) }' \
        README.md >"$tmp/example"
    [ "$(wc -l <"$tmp/example")" -gt 8 ] || return 1
    local line
    while IFS= read -r line; do
        says "$line" || return 1
    done <"$tmp/example"
}

# Prints the name that a run's table gives to a row of README: "NETWORK, BATCH" or "NETWORK, BATCH, CASE".
point_of() { # name of the run, network, case
    local network=" $2" precision=fp32
    [ "$1" = peer ] || network=
    [ "$3" != bf16 ] || precision=bf16
    case $3 in
    "direct sums") echo "$3" ;;
    "dense images") echo "$3 train_cnn" ;;
    *) echo "default plan train_cnn$network precision=$precision" ;;
    esac
}

# Checks that the table has the point's ratio to a peer, and below it the factors and the ratios of memory, if given.
has_ratio() { # point, ratio, peer, words of the lines below
    local found
    found=$(grep -A 2 -F -- "$1: $2 x the images/s of $3 " "$tmp/table") || { echo "$1: no $2 of $3"; return 1; }
    for word in "${@:4}"; do
        grep -qF -- "$word" <<<"$found" || { echo "$1: no '$word' in: $found"; return 1; }
    done
}

# | keras_690k, 128, bf16 | 11,790 | 6.12 [5.85, 6.42] | 4.91 | 1.25 | 0.29 | 0.13 | 3.31 [3.26, 3.39] |
peer_rows_are_of_the_table() { # name of the run, its networks, number of rows
    local first images torch work rate memory process onednn rows=0
    table "$1" || return 1
    while IFS='|' read -r _ first images torch work rate memory process onednn _; do
        local network=${first%%,*} case
        case=$(cut -s -d, -f3 <<<"$first") case=${case# }
        local point
        point=$(point_of "$1" "$network" "$case")
        says " ${images//,/} " &&
            has_ratio "$point" "$torch" peer_torch "${torch%% *} = $work (less arithmetic) x $rate (faster arithmetic)" \
                "(ratio $memory); of whole processes" "(ratio $process)." &&
            has_ratio "$point" "$onednn" peer_onednn || return 1
        rows=$((rows + 1))
    done < <(grep -E "^\| ($2), " README.md | sed 's/ *| */|/g')
    [ "$rows" -eq "$3" ] || { echo "$rows rows"; return 1; }
}

# Checks speed-ups on two cores, such as "lenet_21k 1.96 [1.95, 1.98]", against the tables of efficiency runs.
second_cores_are_of_the_tables() {
    local text
    text=$(tr '\n' ' ' <README.md)
    table efficiency || return 1
    for network in lenet_21k keras_690k; do
        local speedup
        speedup=$(grep -o "$network [0-9.]* \[[0-9.]*, [0-9.]*\]" <<<"$text" | tail -n 1)
        grep " $network  *shm_zero1 " "$tmp/table" | grep -qF " ${speedup#* } " ||
            { echo "$speedup"; cat "$tmp/table"; return 1; }
    done
    table efficiency_vgg || return 1
    speedup=$(grep -o "vgg11_bn [0-9.]* \[[0-9.]*, [0-9.]*\]" <<<"$text" | tail -n 1)
    grep " shm " "$tmp/table" | grep -qF " ${speedup#* } "
}

# `scalebench figures` writes documents from tables before it draws; without gnuplot it stops then.
documents_are_of_the_program() {
    local file name n=0
    for file in "$reference"/*/summary.md; do
        name=$(basename "$(dirname "$file")")
        cp -rL "$reference/$name" "$tmp/$name"
        rm "$tmp/$name/summary.md"
        if compgen -G "$reference/$name/*.svg" >"$tmp/drawn"; then
            expect 3 "cannot run gnuplot" env PATH=/nowhere "$scalebench" figures "$tmp/$name" || return 1
        else
            "$scalebench" figures "$tmp/$name" >"$tmp/drawn" 2>&1 || return 1
        fi
        diff "$file" "$tmp/$name/summary.md" || return 1
        n=$((n + 1))
    done
    [ "$n" -gt 0 ]
}

names_no_folder_of_a_machine() {
    ! grep -lE '^x-folders:|"/[^"]*/scalebench"|^Command: /' "$reference"/*/{spec.yaml,manifest.json,summary.md}
}

the_list_of_references_is_current() {
    sed -n '/^<!-- ci\/references.sh/,/^<!-- until/p' results/reference/README.md | grep '^|' >"$tmp/listed"
    ci/references.sh >"$tmp/made" && diff "$tmp/listed" "$tmp/made"
}

# Checks that numbers, verdicts and counts in README are those of results/README.md and claims.md.
what_becomes_of_reports_is_the_ledgers() {
    local link
    grep -o '\[[^]]*\]*\](results/[a-z_/.]*#L[0-9-]*)' README.md | sort -u >"$tmp/links"
    [ "$(wc -l <"$tmp/links")" -ge 3 ] || return 1
    while IFS= read -r link; do
        grep -qF -- "${link/(results\//(}" results/README.md ||
            { echo "results/README.md does not have ${link/(results\//(}"; return 1; }
    done <"$tmp/links"
    grep -qF -- "$(grep -m 1 '^[0-9]* claims: ' results/claims.md)" README.md
}

check "README's example equals the table of its run" the_example_is_a_printed_one
check "README's ratios to PyTorch and oneDNN agree with the table" \
    peer_rows_are_of_the_table peer "softmax_784|lenet_21k|keras_690k" 5
check "and of the large net" peer_rows_are_of_the_table peer_vgg vgg11_bn 2
check "README's speed-ups agree with the tables" second_cores_are_of_the_tables
check "README's verdicts on the reports agree with the ledger" what_becomes_of_reports_is_the_ledgers
check "documents of references equal the program's output" documents_are_of_the_program
check "committed runs name no folder of a machine" names_no_folder_of_a_machine
check "results/reference/README.md lists the manifests of its references" the_list_of_references_is_current

# Compares the table of errors of simulated steps with a simulation of the committed run again.
errors_are_those_of_the_run() {
    "$scalebench" simulate --again results/reference/past_predict --set cases.simulated.site.model=emulated >"$tmp/again" || return 1
    python3 - "$tmp/again" <<'PY'
import re, sys
run = {}
with open(sys.argv[1]) as f:
    for label, error in re.findall(r"^emulated (.*?) nodes=.* ([+-]\S+) %$", f.read(), re.M):
        ranks, model, _, strategy = label.split()
        run[strategy, model, ranks[-1]] = "%+.0f" % float(error)
with open("comm/README.md") as f:
    page = f.read().split("## Simulated beside emulated steps")[1].split("\n## ")[0]
rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.M)
bad = 0
for strategy, cells in rows:
    expected = [run[strategy, model, ranks] for model in ("keras_690k", "vgg11_bn") for ranks in "248"]
    if cells.split(" | ") != expected:
        print(strategy, "found", cells, "expected", expected)
        bad = 1
missing = {strategy for strategy, _, _ in run} - {strategy for strategy, _ in rows}
if missing or not rows:
    print("rows are missing:", missing)
sys.exit(bad or bool(missing) or not rows)
PY
}
check "errors of simulated steps are those of the committed run" errors_are_those_of_the_run

# Compares the table of efficiencies by rate with the committed run.
efficiencies_are_those_of_the_run() {
    python3 - <<'PY'
import csv, re, sys
run = {}
with open("results/reference/past_network/summary.csv", newline="") as f:
    for row in csv.DictReader(f):
        if row["strategy"] != "none":
            cap = ", %s MiB" % row["sync.cap_mib"] if row["strategy"] == "bucketed" else ""
            run.setdefault((row["model"], "`%s`%s" % (row["strategy"], cap)), []).append(
                (float(row["link"].split("gbit")[0]), "%.0f" % (100 * float(row["efficiency"]))))
with open("comm/README.md") as f:
    page = f.read().split("## Which link for which network")[1].split("\n## ")[0]
found = {(m, s): cells.split(" | ") for m, s, cells in re.findall(r"^\| (\w+) \| (`\w+`[^|]*) \| (\d.*) \|$", page, re.M)}
expected = {key: [cell for _, cell in sorted(cells)] for key, cells in run.items()}
for key in set(found) | set(expected):
    if found.get(key) != expected.get(key):
        print(key, "found", found.get(key), "expected", expected.get(key))
sys.exit(found != expected or not found)
PY
}
# Compares errors of simulated steps at 10 Gbit/s with the committed run.
errors_at_10gbit_are_those_of_the_run() {
    python3 - <<'PY'
import csv, re, statistics, sys
run = {}
with open("results/reference/past_predict_10gbit/summary.csv", newline="") as f:
    for row in csv.DictReader(f):
        if row["case"] == "emulated" and row["predict_error_pct"]:
            run.setdefault((row["model"], row["ranks"]), []).append(abs(float(row["predict_error_pct"])))
cell = lambda errors: "%s and %.0f %%" % ("%.1f" % statistics.median(errors) if statistics.median(errors) < 20 else "%.0f" % statistics.median(errors), max(errors))
expected = {m: [cell(run[m, p]) for p in "248"] for m in ("lenet_21k", "keras_690k", "vgg11_bn")}
with open("comm/README.md") as f:
    page = f.read().split("At 10 Gbit/s, two cores")[1].split("\n## ")[0]
found = {m: cells.split(" | ") for m, cells in re.findall(r"^\| (\w+) \| (\d\S+ and .*) \|$", page, re.M)}
if found != expected or any(len(errors) != 14 for errors in run.values()):
    print("found", found, "expected", expected)
    sys.exit(1)
PY
}
check "errors of simulated steps at 10 Gbit/s are those of the committed run" errors_at_10gbit_are_those_of_the_run

# Compares predictions of Kota's parts, by the hardware and by fitted links, with the committed run.
predictions_of_kota_are_those_of_the_run() {
    python3 - <<'PY'
import csv, re, sys
part = {"gather_scatter": "2a", "allreduce_layer": "2b", "bucketed": "3"}
published, run, link = {}, {}, {}
with open("results/published/kota_iteration_time.csv", newline="") as f:
    for row in csv.DictReader(line for line in f if line[0] != "#"):
        published[row["part"]] = 1000 * float(row["iteration_s"])
with open("results/reference/past_own_kota/summary.csv", newline="") as f:
    for row in csv.DictReader(f):
        if row["strategy"] != "none":
            key = part[row["strategy"]] if row["case"].startswith("part") else (row["case"], part[row["strategy"]])
            run[key] = float(row["step_ms_median"])
            link[row["case"]] = [row["site.delay"], row["site.rate"]]
error = lambda key, of: "%+.0f" % (100 * (run[key] / published[of] - 1))
expected = [["%.0f" % published[p], "%.0f" % run[p], error(p, p)] for p in ("2a", "2b", "3")]
for case in ("fitted without 2a", "fitted without 3"):
    expected.append(link[case] + [error((case, p), p) for p in ("2a", "2b", "3")])
with open("comm/README.md") as f:
    page = f.read().split("## The reports on their own hardware")[1].split("\n## ")[0]
found = [list(row) for row in re.findall(r"part \w+, `\w+` \| (\d+) ms \| (\d+) ms \| (\S+) %", page)]
found += [re.sub(" %| ms", "", row).split(" | ") for row in re.findall(r"^\| parts \w+ and \w+ \| (.*) \|$", page, re.M)]
if found != expected:
    print("found", found, "expected", expected)
sys.exit(found != expected)
PY
}
check "predictions of Kota's iterations are those of the committed run" predictions_of_kota_are_those_of_the_run
check "efficiencies by the rate of links are those of the committed run" efficiencies_are_those_of_the_run
finish
