#!/usr/bin/env bash
# Tests the comments "To add" on top of tables. In a copy of the sources it adds a layer, a strategy, a measured column, a
# figure and a site by the rows and files that the comments name (files: bench/tests/adding/). Then the copy builds, and
# `list`, `explain`, CSV files and figures show the additions.
# tier: rest
# cores: 1
# seconds: 80
set -u
. bench/tests/lib/tap.sh
. ci/files.sh
copy=$tmp/copy
unset SCALEBENCH_OUT # results lie in the copy

# Copies objects with the sources, so that only dependents of a changed table are compiled.
copy_sources() {
    mkdir -p "$copy/build"
    source_files -z | xargs -0 cp --parents --preserve=timestamps -t "$copy" 2>/dev/null
    cp -a "$build/obj" "$build/flags" "$build/linked" "$build"/*.a "$copy/build"
}

# Adds a row; some tables end with an #undef of their macros.
row() { # file, row
    grep -qF -- "$2" "$copy/$1" && return 1
    awk -v row="$2" '/^#undef/ && !done { print row; done = 1 } { print } END { if (!done) print row }' \
        "$copy/$1" >"$tmp/table" && cp "$tmp/table" "$copy/$1"
}

behind() { # file, a line of it, what follows it
    grep -qxF -- "$2" "$copy/$1" || return 1
    local line
    line=$(grep -nxF -m1 -- "$2" "$copy/$1" | cut -d: -f1)
    sed -i "${line}r /dev/stdin" "$copy/$1" <<<"$3"
}

add_all() {
    cp -r bench/tests/adding/. "$copy"
    local strategies=comm/cost/strategies.def
    row "$strategies" 'STRATEGY(sliced, STRATEGY_EXACT | STRATEGY_DETERMINISTIC | STRATEGY_ALGORITHMS, "MPI_Allreduce", "the gradient is summed in sync.slices calls")' &&
        row "$strategies" 'SYNC_OPTION(slices, strategy, sliced, INT, "slices", 1, 1000, "4", "sliced: sums of equal size a step makes")' &&
        row "$strategies" 'SYNC_OPTION(slices_from_end, strategy, sliced, INT, "", 0, 1, "0", "sliced: 1: the last slice is summed first")' &&
        row kernels/desc/layers.def 'LAYER(tanh, "hyperbolic tangent")' &&
        row bench/spec/sites.def 'SITE(loopback, "measured", false, "this machine by its loopback address")' &&
        row bench/spec/figures/figures.def 'FIGURE(faults, "peak memory of the largest rank over ranks", nothing, curves, "line", "y: rss_mib")' &&
        row bench/record/metrics.def 'METRIC(minor_faults, REAL, "faults", end, minor_faults, REAL, OPTIONAL, MEAN, MEDIAN, "page faults of a rank that read nothing, mean")' &&
        row bench/record/metrics.def 'METRIC(nobody, REAL, "", end, nobody, REAL, OPTIONAL, MEAN, MEDIAN, "what no line assigns")' &&
        behind bench/workloads/train_cnn/report.c '    end->user_s = seconds_of(usage.ru_utime);' \
            '    end->minor_faults = (double)usage.ru_minflt;'
}

# Builds without optimisation, which takes most of the time. The stamp of the flags is kept, or all objects would be
# compiled.
builds() {
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$copy" BUILD=build WERROR=1 OPT=-O0 \
        FLAGS_NOW="$(cat "$build/flags")" build/scalebench build/train_cnn build/pin
}

shows() { # word, command
    local word=$1
    shift
    (cd "$copy" && "$@") | grep -wF -- "$word"
}

check "a copy of the sources" copy_sources
check "rows and files" add_all
check "a copy with the additions builds" builds
check "the layer in list" shows tanh build/scalebench list layers
check "the site in list" shows loopback build/scalebench list sites
check "the figure in list" shows faults build/scalebench list figures
check "the strategy in list" shows sliced build/scalebench list strategies
check "explain lists the added options" shows sliced build/scalebench explain sync.slices_from_end
check "the column in list" shows minor_faults build/scalebench list columns
check "the column in explain" shows faults build/scalebench explain minor_faults

cat >"$copy/net.yaml" <<'END'
name: with_tanh
input: [1, 28, 28]
classes: 10
layers:
  - dense: {outputs: 16}
  - tanh
  - dense: {outputs: 10}
END
cat >"$copy/adding.yaml" <<'END'
name: adding
scaling: strong
model: net.yaml
site: loopback
data: {set: digits, samples: 600}
train: {global_batch: 60, lr: 0.1}
place: {oversubscribe: allow}
matrix: {ranks: [1, 2], sync.strategy: [allreduce, sliced]}
exclude:
  - {ranks: 1, sync.strategy: sliced}
sync: {slices: 3, slices_from_end: 1}
measure:
  time: {warmup_steps: 1, steps: 4, launches: 2..2}
figures: [faults]
END
latest=$copy/results/adding/latest

runs() {
    (cd "$copy" && build/scalebench run adding.yaml)
}

column_of() { # file, column: its cells
    awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; next } at { print $at }' "$1"
}

column_says() { # column, value of the last row, file
    [ "$(column_of "$3" "$1" | tail -1)" = "$2" ] || { column_of "$3" "$1" && return 1; }
}

measured() { # file
    column_of "$1" minor_faults | grep -E '^[0-9.]+$'
}

check "the layer in a net" shows tanh build/scalebench model net.yaml
check "a campaign with all of them" runs
check "the strategy in summary.csv" shows sliced cat "$latest/summary.csv"
check "the added option sets the number of calls per step" column_says calls 3 "$latest/summary.csv"
check "the column in raw.csv" measured "$latest/raw.csv"
check "the column in summary.csv" measured "$latest/summary.csv"
check "a column that no line assigns is empty in raw.csv" column_says nobody "" "$latest/raw.csv"
check "a column that no line assigns is empty in summary.csv" column_says nobody "" "$latest/summary.csv"
check "the column in the dictionary" grep -q minor_faults "$latest/columns.csv"
check "the site in summary.csv" shows loopback cat "$latest/summary.csv"
if command -v gnuplot >/dev/null; then
    check "the figure is drawn" test -s "$latest/faults.svg"
else
    lacks "the figure is drawn" gnuplot
fi
finish
