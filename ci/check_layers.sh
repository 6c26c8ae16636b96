#!/usr/bin/env bash
# Holds the arrows between folders: which folder's headers a folder may include, and who may include the
# header of which library. Prints every line that breaks a rule; exit status 1 if there is one.
set -u

# folder: folders it may include from, besides itself (the longest folder that fits a file decides)
rules="
kernels/base:
kernels/desc: kernels/base
kernels: kernels/base kernels/desc kernels/simd kernels/optimizers
kernels/simd: kernels/base
kernels/optimizers: kernels kernels/base kernels/desc kernels/simd
kernels/tests: kernels kernels/base kernels/desc kernels/optimizers bench/spec
comm/cost: kernels/base kernels/desc
comm: kernels kernels/base kernels/desc comm/cost
comm/tests: comm comm/cost kernels kernels/base kernels/desc
bench/spec: kernels/base kernels/desc comm/cost
bench/place: kernels/base bench/spec
bench/sites: kernels/base bench/spec bench/place
bench/collect: kernels/base kernels/desc comm/cost bench/spec
bench/runner: kernels/base kernels/desc comm/cost bench/spec bench/place bench/sites bench/collect
bench/workloads: kernels/base kernels/desc kernels comm comm/cost bench/spec bench/place
bench/workloads/data: kernels/base kernels/desc bench/spec
bench/workloads/read: kernels/base kernels/desc comm bench/spec bench/workloads/data
bench/workloads/train_cnn: kernels kernels/base kernels/desc comm comm/cost bench/spec bench/place bench/workloads bench/workloads/data bench/workloads/read
bench/workloads/sweep: kernels/base
bench/workloads/kernel_sweep: kernels kernels/base kernels/desc bench/spec bench/place bench/workloads/sweep
bench/workloads/comm_sweep: comm comm/cost kernels kernels/base kernels/desc bench/spec bench/place bench/workloads bench/workloads/sweep
bench/workloads/peers: kernels kernels/base kernels/desc bench/spec bench/workloads/data bench/workloads/train_cnn
bench/tests/fuzz: kernels/base bench/spec bench/collect bench/workloads/data bench/workloads/train_cnn
bench/tests: kernels kernels/base kernels/desc comm comm/cost comm/tests bench/spec bench/place bench/sites bench/collect bench/runner bench/workloads bench/workloads/data bench/workloads/read bench/workloads/train_cnn
"

# header: files that may include it (a prefix)
libraries="
blis.h: kernels/gemm.c
mpi.h: comm/ bench/workloads/ bench/tests/mpi_
hwloc.h: bench/place/
yaml.h: bench/spec/yaml_reader.c
zlib.h: bench/workloads/data/ bench/tests/
cmocka.h: kernels/tests/ comm/tests/ bench/tests/
"

# A line a finding: `#include` lines of every source against both tables.
# shellcheck disable=SC2016 # awk's own
check='
function room_of(path) { sub("/[^/]*$", "", path); return path }
function complain(what) { print what; bad = 1 }
BEGIN {
    n = split(ENVIRON["rules"], line, "\n")
    for (i = 1; i <= n; i++)
        if (split(line[i], part, ":") == 2) {
            folders = split(part[2], folder, " ")
            may[part[1], part[1]] = 1
            for (j = 1; j <= folders; j++) may[part[1], folder[j]] = 1
        }
    n = split(ENVIRON["libraries"], line, "\n")
    for (i = 1; i <= n; i++)
        if (split(line[i], part, ":") == 2) owners[part[1]] = part[2]
}
function may_use(file, header,    n, i, prefix) {
    n = split(owners[header], prefix, " ")
    for (i = 1; i <= n; i++)
        if (index(file, prefix[i]) == 1) return 1
    return 0
}
/^ *#include [<"]/ {
    header = $0
    gsub(/^ *#include [<"]|[>"].*$/, "", header)
    if (index($0, "\"")) {
        if (!((room_of(FILENAME), room_of(header)) in may))
            complain(FILENAME ":" FNR ": " room_of(FILENAME) " may not include " header)
    } else if (header in owners && !may_use(FILENAME, header))
        complain(FILENAME ":" FNR ": " header " is not for this file")
}
END { exit bad }'

# shellcheck disable=SC2046 # no file name of ours has a space
rules="$rules" libraries="$libraries" awk "$check" \
    $(git ls-files -co --exclude-standard '*.c' '*.h' '*.def') >&2
