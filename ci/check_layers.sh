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

bad=0

complain() {
    echo "$1" >&2
    bad=1
}

room_of() {
    dirname "$1"
}

allowed() { # room, folder
    local line
    line=$(grep -E "^$1:" <<<"$rules") || return 1
    [ "$1" = "$2" ] || [[ " ${line#*:} " == *" $2 "* ]]
}

library_allowed() { # file, header
    local line prefix
    line=$(grep -E "^$2:" <<<"$libraries") || return 0
    for prefix in ${line#*:}; do
        [[ $1 != "$prefix"* ]] || return 0
    done
    return 1
}

while IFS=: read -r file number text; do
    header=$(sed -E 's/.*[<"]([^>"]+)[>"].*/\1/' <<<"$text")
    if [[ $text == *'"'* ]]; then
        allowed "$(room_of "$file")" "$(room_of "$header")" ||
            complain "$file:$number: $(room_of "$file") may not include $header"
    elif ! library_allowed "$file" "$header"; then
        complain "$file:$number: $header is not for this file"
    fi
done < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.def' | xargs grep -nE '^ *#include ')

exit "$bad"
