# shellcheck shell=bash
# Decoys: results, data and an environment of a user that tests must ignore.

# Plants in CHECKOUT a run for each committed name, with the same points and times a thousand times as long, and data that no
# reader accepts. Plants in HOME settings of gnuplot that draw nothing.
plant_decoys() { # checkout, home
    local file
    decoys_of_runs "$1/results" && mkdir -p "$1/data/mnist" "$1/data/cifar10" "$2" || return 1
    for file in {train,t10k}-{images-idx3,labels-idx1}-ubyte; do
        echo decoy >"$1/data/mnist/$file" || return 1
    done
    echo decoy >"$1/data/cifar10/test_batch.bin" && echo 'exit status 1' >"$2/.gnuplot"
}

# Keeps existing runs.
decoys_of_runs() { # results
    python3 - "$1" <<'PY'
import csv, os, shutil, sys
results = sys.argv[1]
tables = 0
for name in os.listdir(f"{results}/reference"):
    latest = f"{results}/{name}/latest"
    if os.path.lexists(latest) or not os.path.isdir(f"{results}/reference/{name}"):
        continue
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
        tables += 1
sys.exit(tables < 100)
PY
}

# Runs a command with this HOME and with variables that would break tests that read them.
among_decoys() { # home, command
    env HOME="$1" XDG_CACHE_HOME=/proc/nowhere OUT=results SCALEBENCH_OUT=results SCALEBENCH_HOME=/nowhere \
        SCALEBENCH_CACHE=/proc/nowhere SCALEBENCH_ISA=none SCALEBENCH_LOG=none SCALEBENCH_HOSTS=/nowhere \
        SCALEBENCH_LOCKS=/proc/nowhere SLURM_JOB_ID=1 "${@:2}"
}
