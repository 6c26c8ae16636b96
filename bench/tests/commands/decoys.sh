#!/usr/bin/env bash
# Tests do not look at the results, the home or the environment of who runs them: the scripts of the first tier that read
# committed runs pass in a copy of the checkout where runs of all committed names, data, cache and variables are decoys.
# tier: rest
# cores: 1
# seconds: 60
set -u
. bench/tests/lib/tap.sh
copy=$tmp/copy

# The sources, and the programs as their owner would have built them there.
copy_checkout() {
    mkdir -p "$copy/build"
    git ls-files -co --exclude-standard -z | xargs -0 cp -P --parents -t "$copy" &&
        find "$build" -maxdepth 1 -type f -perm -u+x -exec cp -t "$copy/build" {} +
}

# A run of each committed name, of the same points, with all times a thousand times as long.
make_runs() {
    python3 - "$copy/results" <<'PY'
import csv, os, shutil, sys
results = sys.argv[1]
runs = 0
for name in os.listdir(f"{results}/reference"):
    latest = f"{results}/{name}/latest"
    shutil.copytree(f"{results}/reference/{name}", latest)
    for file in "summary.csv", "raw.csv":
        path = f"{latest}/{file}"
        if not os.path.exists(path):
            continue
        with open(path, newline="") as f:
            reader = csv.DictReader(f)
            rows = list(reader)
        for row in rows:
            for column, value in row.items():
                if "_ms" in column and value.replace(".", "", 1).isdigit():
                    row[column] = repr(1000 * float(value))
        with open(path, "w", newline="") as f:
            out = csv.DictWriter(f, reader.fieldnames)
            out.writeheader()
            out.writerows(rows)
        runs += 1
sys.exit(runs < 100)
PY
}

# Data that no reader takes, a picture program's settings that draw nothing, a cache that cannot be written.
make_home() {
    local file
    mkdir -p "$copy/data/mnist" "$copy/data/cifar10" "$tmp/elsewhere" "$tmp/locks_of_others" &&
        for file in {train,t10k}-{images-idx3,labels-idx1}-ubyte; do
            echo decoy >"$copy/data/mnist/$file" || return 1
        done &&
        echo decoy >"$copy/data/cifar10/test_batch.bin" && echo 'exit status 1' >"$tmp/elsewhere/.gnuplot"
}

passes() { # script
    (cd "$copy" && env -u SCALEBENCH_OWN -u SCALEBENCH_REAL_DATA HOME="$tmp/elsewhere" XDG_CACHE_HOME=/proc/nowhere OUT=results \
        SCALEBENCH_BUILD="$copy/build" SCALEBENCH_OUT=results SCALEBENCH_HOME=/nowhere SCALEBENCH_CACHE=/proc/nowhere \
        SCALEBENCH_DATA="$copy/data" SCALEBENCH_ISA=none SCALEBENCH_LOG=none SCALEBENCH_HOSTS=/nowhere \
        SCALEBENCH_LOCKS=/proc/nowhere SLURM_JOB_ID=1 "$1")
}

if ! command -v python3 >/dev/null; then
    lacks "scripts in a checkout full of decoys" python3
    finish
fi
check "a copy of the checkout" copy_checkout
check "decoys of every committed run" make_runs
check "decoys of data and settings" make_home

decoy_is_seen() {
    expect 1 "slower" "$copy/build/scalebench" compare results/reference/strong_scaling "$copy/results/strong_scaling/latest"
}
check "a decoy is a run, and slower" decoy_is_seen

for script in $(ci/run_tests.sh --list | awk -F'\t' '$1 == "first" && $5 ~ /[.]sh$/ { print $5 }' |
    xargs grep -lE 'results/reference|lib/committed'); do
    check "$script passes beside decoys" passes "$script"
done
finish
