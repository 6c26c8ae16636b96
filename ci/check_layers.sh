#!/usr/bin/env bash
# Checks the structure of the sources: which folders may include which headers and library headers, that files of a
# library do not call each other in circles, the size of folders, files and functions, and the form of comments.
# Prints every line that breaks a rule; then the exit status is 1.
set -u
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
# shellcheck source=ci/files.sh
. "$(dirname "$0")/files.sh"
take_no_arguments "$@"

# folder: folders or headers that it may include besides its own; with a slash also folders below.
# Tests follow the row `tests` of their top folder.
rules="
kernels/base:
kernels/desc: kernels/base
kernels/simd: kernels/base
kernels/simd/small_conv: kernels/base kernels/simd
kernels/simd/winograd: kernels/base kernels/simd
kernels: kernels/base kernels/simd
kernels/optimizers: kernels kernels/base kernels/desc kernels/simd
kernels/layers: kernels kernels/base kernels/desc kernels/simd
kernels/ops: kernels kernels/base kernels/desc kernels/simd kernels/layers kernels/simd/small_conv kernels/simd/winograd
kernels/net: kernels kernels/base kernels/desc kernels/simd kernels/layers kernels/ops
comm/cost: kernels/base kernels/desc
comm/cost/strategies: kernels/base comm/cost
comm/cost/compressors: kernels/base comm/cost
comm/wait: kernels/base comm/cost
comm: kernels/base kernels/desc kernels/optimizers/optimizer.h kernels/cast16.h comm/cost comm/wait
comm/compressors: kernels/base kernels/desc kernels/cast16.h comm comm/cost
comm/strategies: kernels/base kernels/desc kernels/optimizers/optimizer.h comm comm/cost comm/cost/strategies comm/wait
bench/base: kernels/base
bench/spec: kernels/base bench/base kernels/desc comm/cost bench/spec/figures bench/spec/nodes bench/spec/points bench/spec/values bench/spec/yaml bench/spec/inputs bench/spec/rules
bench/spec/conditions: kernels/base bench/spec bench/spec/yaml
bench/spec/figures: kernels/base bench/spec bench/spec/yaml
bench/spec/inputs: kernels/base bench/base bench/spec bench/spec/figures bench/spec/yaml
bench/spec/nodes: kernels/base bench/spec bench/spec/rules
bench/spec/points: kernels/base comm/cost bench/spec bench/spec/figures bench/spec/nodes bench/spec/yaml
bench/spec/rules: kernels/base kernels/desc comm/cost bench/spec bench/spec/figures bench/spec/nodes bench/spec/points bench/spec/yaml
bench/spec/values: kernels/base bench/spec
bench/spec/yaml: kernels/base bench/spec bench/base
bench/resources: kernels/base bench/base
bench/place: kernels/base bench/base bench/spec bench/resources
bench/record: kernels/base bench/base kernels/desc comm/cost bench/spec bench/workloads/sweeps/comm/csv_comm.def bench/workloads/sweeps/comm/csv_link.def bench/workloads/sweeps/kernel/csv_kernels.def bench/workloads/sweeps/kernel/csv_limits.def
bench/replay: kernels/base bench/spec
bench/doctor: kernels/base bench/base bench/resources bench/record
bench/bundle: kernels/base bench/base
bench/sites: kernels/base bench/base bench/spec bench/place
bench/collect/columns: bench/record
bench/collect: kernels/base bench/base kernels/desc comm/cost bench/spec bench/spec/figures bench/spec/points bench/record bench/place/cpu_list.h bench/resources bench/collect/columns bench/collect/points
bench/collect/csv: kernels/base bench/base bench/spec bench/record bench/collect bench/collect/columns
bench/collect/launch: kernels/base bench/base bench/spec bench/record bench/collect
bench/collect/points: kernels/base bench/base kernels/desc comm/cost bench/spec bench/collect
bench/collect/table: kernels/base bench/base kernels/desc bench/record bench/collect bench/collect/points
bench/figures: kernels/base bench/base kernels/desc comm/cost bench/spec bench/record bench/collect bench/collect/columns bench/spec/figures bench/spec/yaml
bench/launch: kernels/base bench/base bench/spec bench/resources bench/place bench/record bench/sites
bench/order: kernels/base comm/cost bench/spec bench/record bench/collect
bench/runner: kernels/base bench/base kernels/desc comm/cost bench/spec bench/spec/points/alike.h bench/place bench/sites bench/record bench/collect bench/collect/columns bench/collect/table bench/figures bench/launch bench/order bench/spec/yaml
bench/batch: kernels/base bench/base bench/spec bench/spec/yaml bench/sites bench/record bench/order bench/runner
bench/compare: kernels/base bench/base bench/spec bench/place bench/record bench/collect bench/collect/columns bench/collect/table bench/runner
bench/claims: kernels/base bench/base bench/spec bench/record bench/collect/table bench/runner bench/compare bench/spec/yaml
bench/forecast: kernels/base bench/base kernels/desc comm/cost bench/spec bench/spec/points bench/place bench/record bench/replay bench/collect bench/figures bench/runner
bench/page: kernels/base bench/base bench/spec bench/spec/figures bench/record bench/collect bench/collect/table bench/figures bench/runner bench/claims bench/compare
bench/runner/commands: kernels/base bench/base comm/cost bench/doctor bench/spec bench/place bench/record bench/collect/table bench/figures bench/runner bench/batch bench/claims bench/compare bench/forecast bench/page
bench/runner/commands/help: kernels/base bench/base bench/doctor/table.h bench/spec bench/spec/figures bench/record bench/collect bench/figures bench/runner bench/runner/commands bench/claims bench/compare bench/forecast
bench/workloads: kernels/base bench/base bench/spec bench/record
bench/workloads/hello: kernels/base bench/base
bench/workloads/doctor: kernels kernels/base bench/base comm/wait bench/doctor bench/place bench/workloads
bench/workloads/data: kernels/base bench/base kernels/desc bench/spec
bench/workloads/read: kernels/base kernels/desc comm comm/wait bench/spec bench/workloads/data
bench/workloads/checkpoint: kernels/cast16.h kernels/base bench/base kernels/desc kernels/layers/loss.h comm comm/wait bench/spec
bench/workloads/train_cnn/parts: kernels/cast16.h kernels/base bench/spec bench/replay comm comm/wait
bench/workloads/train_cnn: kernels kernels/base bench/base kernels/desc kernels/net kernels/ops kernels/optimizers comm comm/cost comm/wait bench/spec bench/place bench/record bench/replay bench/workloads bench/workloads/checkpoint bench/workloads/data bench/workloads/read bench/workloads/train_cnn/parts
bench/workloads/sweeps: kernels/base bench/record bench/spec
bench/workloads/sweeps/kernel: bench/place/hardware.h kernels kernels/base bench/base kernels/desc kernels/layers kernels/net kernels/ops kernels/optimizers bench/spec bench/workloads/sweeps bench/record
bench/workloads/sweeps/comm: comm comm/cost comm/cost/strategies/bucketed.h comm/wait comm/compressors kernels kernels/base bench/base kernels/desc kernels/optimizers bench/spec bench/workloads bench/workloads/sweeps bench/record
bench/workloads/peers: kernels kernels/base bench/base kernels/desc kernels/net bench/spec bench/record bench/workloads/data bench/workloads/train_cnn bench/workloads/train_cnn/parts
bench/workloads/peers/onednn: bench/workloads/peers kernels/base bench/base kernels/desc kernels/layers kernels/net bench/spec bench/workloads/train_cnn bench/workloads/train_cnn/parts
kernels/tests: kernels/ bench/spec
comm/tests: kernels/ comm/
bench/tests: kernels/ comm/ bench/
"

# header: files that may include it (a prefix)
libraries="
blis.h: kernels/gemm.c
mpi.h: comm/ bench/workloads/ configs/examples/
hwloc.h: bench/place/
yaml.h: bench/spec/yaml/yaml_reader.c
pcre2.h: bench/spec/pattern.c
oneapi/dnnl/dnnl.h: bench/workloads/peers/onednn/
zlib.h: bench/workloads/data/ bench/workloads/read/tests/ bench/tests/fuzz/

"

# Prints one line per `#include` that violates a table.
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

sources() {
    source_files "$@" | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

check_arrows() {
    # shellcheck disable=SC2046 # no file name of ours has a space
    rules="$rules" libraries="$libraries" awk "$check" $(sources '*.c' '*.h' '*.def')
}

# Prints circles of calls between files of one library. Only calls count: a table of functions that one file fills and
# another reads is an include.
circles_of() { # library
    nm -A -g "$1" 2>/dev/null | awk -F: '
        { n = split($3, symbol, " "); file = $2 }
        symbol[n - 1] == "T" { defined_in[symbol[n]] = file }
        symbol[n - 1] == "U" { calls[file, symbol[n]] = 1 }
        END {
            for (call in calls) {
                split(call, part, SUBSEP)
                callee = defined_in[part[2]]
                if (callee != "" && callee != part[1]) print part[1], callee
            }
        }' | sort | tsort 2>&1 >/dev/null | awk -v library="$1" '
        /loop:$/ { if (circle != "") print library ": these call each other in a circle:" circle; circle = ""; next }
        { circle = circle " " $NF; bad = 1 }
        END { if (circle != "") print library ": these call each other in a circle:" circle; exit bad }' |
        sort -u | grep .
}

check_circles() {
    local library status=0
    for library in "${BUILD:-build}"/lib*.a; do
        if [ ! -f "$library" ]; then
            echo "no libraries found in ${BUILD:-build}. Run make all to check for circular calls"
            return 1
        fi
        circles_of "$library" && status=1
    done
    return "$status"
}

# Counts a header and its source as one.
check_sizes() {
    sources '*.c' '*.h' '*.def' '*.sh' '*.py' '*.gp' | sed -E 's/\.[a-z]+$//' | sort -u |
        sed 's#/[^/]*$##' | sort | uniq -c |
        awk -v most=25 '$1 > most { print $2 ": " $1 " sources, at most " most " may stand in a folder"; bad = 1 } END { exit bad }'
}

# Limits the lines of functions and files.
check_lengths() {
    local status=0
    sources '*.c' '*.h' | xargs awk -v most=40 '
        FNR == 1 { begin = 0 }
        /^\{$/ { begin = FNR }
        /^\}/ && begin {
            if (FNR - begin - 1 > most) { print FILENAME ":" begin ": a function of " FNR - begin - 1 " lines, at most " most " are allowed"; bad = 1 }
            begin = 0
        }
        END { exit bad }' || status=1
    sources '*.c' '*.h' '*.sh' '*.py' '*.gp' | xargs awk -v most=650 '
        { n[FILENAME]++ }
        END { for (f in n) if (n[f] > most) { print f ": " n[f] " lines, at most " most " are allowed"; bad = 1 }; exit bad }' || status=1
    return "$status"
}

# Checks what the formatter cannot: comments end on their last line, rules between sections are short.
check_comments() {
    ! sources '*.c' '*.h' | xargs grep -nE '^ *\*/ *$|^/\* -{5,}' |
        sed 's/$/   <- a comment ends on its last line; a section is ---- Title ----/' | grep .
}

status=0
for part in arrows circles sizes lengths comments; do
    "check_$part" >&2 || status=1
done
exit "$status"
