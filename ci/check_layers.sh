#!/usr/bin/env bash
# Holds the arrows between folders: which folder's headers a folder may include, and who may include the
# header of which library. Prints every line that breaks a rule; exit status 1 if there is one.
set -u

# folder: folders it may include from besides itself, or single headers; with a slash also what lies below.
# Tests beside a room follow the row of the tests of its top folder.
rules="
kernels/base:
kernels/desc: kernels/base
kernels/simd: kernels/base
kernels: kernels/base kernels/simd
kernels/optimizers: kernels kernels/base kernels/desc kernels/simd
kernels/layers: kernels kernels/base kernels/desc kernels/simd
kernels/ops: kernels kernels/base kernels/desc kernels/simd kernels/layers
kernels/net: kernels kernels/base kernels/desc kernels/simd kernels/layers kernels/ops
comm/cost: kernels/base kernels/desc
comm/wait: kernels/base comm/cost
comm: kernels/base kernels/desc kernels/optimizers/optimizer.h kernels/cast16.h comm/cost comm/wait
comm/compressors: kernels/base kernels/desc kernels/cast16.h comm comm/cost
comm/strategies: kernels/base kernels/desc kernels/optimizers/optimizer.h comm comm/cost comm/wait
bench/spec: kernels/base kernels/desc comm/cost
bench/place: kernels/base bench/spec
bench/record: kernels/base kernels/desc comm/cost bench/spec
bench/sites: kernels/base bench/spec bench/place
bench/collect: kernels/base kernels/desc comm/cost bench/spec bench/record
bench/figures: kernels/base kernels/desc comm/cost bench/spec bench/record bench/collect
bench/runner: kernels/base kernels/desc comm/cost bench/spec bench/place bench/sites bench/record bench/collect bench/figures
bench/workloads: kernels/base bench/spec bench/record
bench/workloads/data: kernels/base kernels/desc bench/spec
bench/workloads/read: kernels/base kernels/desc comm comm/wait bench/spec bench/workloads/data
bench/workloads/checkpoint: kernels/base kernels/desc kernels/optimizers comm comm/wait bench/workloads bench/spec bench/workloads/train_cnn
bench/workloads/train_cnn: kernels kernels/base kernels/desc kernels/net kernels/ops kernels/optimizers comm comm/cost comm/wait bench/spec bench/place bench/record bench/workloads bench/workloads/checkpoint bench/workloads/data bench/workloads/read
bench/workloads/sweeps: kernels/base
bench/workloads/sweeps/kernel: kernels kernels/base kernels/desc kernels/layers kernels/net kernels/ops kernels/optimizers bench/spec bench/place bench/workloads/sweeps
bench/workloads/sweeps/comm: comm comm/cost comm/wait comm/compressors kernels kernels/base kernels/desc kernels/optimizers bench/spec bench/place bench/workloads bench/workloads/sweeps
bench/workloads/peers: kernels kernels/base kernels/desc kernels/net bench/spec bench/workloads/data bench/workloads/train_cnn
kernels/tests: kernels/ bench/spec
comm/tests: kernels/ comm/
bench/tests: kernels/ comm/ bench/
"

# header: files that may include it (a prefix)
libraries="
blis.h: kernels/gemm.c
mpi.h: comm/ bench/workloads/
hwloc.h: bench/place/
yaml.h: bench/spec/yaml_reader.c
zlib.h: bench/workloads/data/ bench/workloads/read/tests/

"

# A line a finding: `#include` lines of every source against both tables.
# shellcheck disable=SC2016 # awk's own
check='
function room_of(path) {
    sub("/[^/]*$", "", path)
    return path ~ /\/tests(\/|$)/ ? substr(path, 1, index(path, "/")) "tests" : path
}
function may_include(room, header,    n, i, part) {
    if ((room, room_of(header)) in may || (room, header) in may) return 1
    n = split(below[room], part, " ")
    for (i = 1; i <= n; i++)
        if (index(header, part[i]) == 1) return 1
    return 0
}
function complain(what) { print what; bad = 1 }
BEGIN {
    n = split(ENVIRON["rules"], line, "\n")
    for (i = 1; i <= n; i++)
        if (split(line[i], part, ":") == 2) {
            folders = split(part[2], folder, " ")
            may[part[1], part[1]] = 1
            for (j = 1; j <= folders; j++)
                if (folder[j] ~ /\/$/) below[part[1]] = below[part[1]] " " folder[j]
                else may[part[1], folder[j]] = 1
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
        if (!may_include(room_of(FILENAME), header))
            complain(FILENAME ":" FNR ": " room_of(FILENAME) " may not include " header)
    } else if (header in owners && !may_use(FILENAME, header))
        complain(FILENAME ":" FNR ": " header " is not for this file")
}
END { exit bad }'

# shellcheck disable=SC2046 # no file name of ours has a space
rules="$rules" libraries="$libraries" awk "$check" \
    $(git ls-files -co --exclude-standard '*.c' '*.h' '*.def') >&2
