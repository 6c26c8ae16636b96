#!/usr/bin/env bash
# Runs tests, counts their TAP lines, prints the time of each and the slowest, and ends with
# `N passed, N failed, N skipped`.
#
#   run_tests.sh [first]     run the first tier: tests of the main path
#   run_tests.sh rest        run the second tier: all other tests
#   run_tests.sh all         run both tiers
#   run_tests.sh --total     add up the counts of the last `first` and the last `rest`
#   run_tests.sh --check     fail if no test has TEST in its name, and print the nearest names
#   run_tests.sh --sources   list the source files of tests
#   run_tests.sh --list      list each test with tier, cores, seconds, name and command
#
# BUILD is the build folder and MPIEXEC the launcher. TEST is a part of a test's name, in either tier. JOBS is the number of
# one-core tests that run at a time (default: three more than cores, since tests also wait for files and processes).
# DOUBLE_TESTS names the programs that are also built in double precision.
#
# The head of a test's source sets what differs from the defaults, as `# KEY: VALUE` in a script, ` * KEY: VALUE` in C:
#   tier: rest         second tier (default: first)
#   cores: 0           mostly waits, and runs beside all others
#   cores: 1           uses one core (default of unit tests)
#   cores: 2           starts ranks that wait in between: takes two places of JOBS (default of MPI tests)
#   cores: all         judges times: runs alone, after the others (default of scripts)
#   seconds: 100       duration; long tests start first
#   first: ARGUMENTS   arguments of a unit test in the first tier
#   rest: ARGUMENTS    arguments in the second tier
#   ranks: 1 2 3       ranks of an MPI test (default: 1 2 3 4 7)
#   double: 2 3        its ranks in double precision (default: 1 2 3 4 7)
set -u
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
case ${1:-} in
first | rest | all | --total | --check | --sources | --list) ;;
*) take_no_arguments "$@" ;;
esac

build=${BUILD:-build}
mpiexec=${MPIEXEC:-mpiexec}
filter=${TEST:-}
jobs=${JOBS:-$(($(nproc) + 3))}
logs=$build/test-logs

unit_tests=$(echo kernels/tests/test_*.c {kernels,comm,bench}/*/tests/test_*.c bench/workloads/*/tests/test_*.c)
scripts=$(echo bench/tests/*.sh bench/tests/{commands,nodes,reports,training}/*.sh)
mpi_tests=$(echo comm/tests/mpi_*.c bench/workloads/*/tests/mpi_*.c)

# The first tier runs MPI tests at 1 and 3 ranks (3 is no power of two) in single precision.
first_ranks=" 1 3 "

# said: values of the keys in heads of sources, by `FILE KEY`.
heads() {
    # shellcheck disable=SC2086 # words
    awk '
    FNR > 40 { nextfile }
    match($0, /^( \* |\/\* |# )(tier|cores|seconds|first|rest|ranks|double): /) {
        key = substr($0, RSTART, RLENGTH)
        gsub(/[^a-z]/, "", key)
        value = substr($0, RLENGTH + 1)
        sub(/ *\*\/$/, "", value)
        if (key ~ /^(ranks|double|seconds)$/ && value !~ /^[0-9 ]+$/) {
            print FILENAME ":" FNR ": " key ": \"" value "\" is not a list of numbers" >"/dev/stderr"
            wrong = 1
            exit
        }
        print FILENAME " " key "\t" value
    }
    END { exit wrong }' $scripts $unit_tests $mpi_tests
}

declare -A said
found=$(heads) || exit 2
while IFS=$'\t' read -r key value; do
    said[$key]=$value
done <<<"$found"

row() { # source, tier, cores, name, command
    local IFS=$'\t'
    echo "$2"$'\t'"${said[$1 cores]:-$3}"$'\t'"${said[$1 seconds]:-0}"$'\t'"$4"$'\t'"${*:5}"
}

unit_rows() { # source, name
    local part
    if [ -z "${said[$1 first]:-}" ]; then
        row "$1" "${said[$1 tier]:-first}" 1 "$2" "$build/tests/$2"
        return
    fi
    for part in first rest; do
        # shellcheck disable=SC2086 # arguments
        row "$1" "$part" 1 "$2 ${said[$1 $part]}" "$build/tests/$2" ${said[$1 $part]}
    done
}

mpi_rows() { # source, name, ranks; of the first tier if they are among $4
    local ranks tier cores
    for ranks in $3; do
        tier=rest cores=2
        [[ $4 != *" $ranks "* ]] || tier=${said[$1 tier]:-first}
        [ "$ranks" -ne 1 ] || cores=1
        row "$1" "$tier" "$cores" "$2 on $ranks ranks" "$mpiexec" -n "$ranks" "$build/tests/$2"
    done
}

# Prints one row per test: tier, cores, seconds, name and command, separated by tabs.
list_tests() {
    local source name
    for source in $scripts; do
        name=${source##*/} name=${name%.sh}
        row "$source" "${said[$source tier]:-first}" all "$name" "$source"
    done
    # Fuzzers run only on request; their seeds always.
    for source in bench/tests/fuzz/fuzz_*.c; do
        name=${source##*/} name=${name%.c}
        [ -z "${SCALEBENCH_FUZZ_RUNS:-}${SCALEBENCH_FUZZ_SECONDS:-}" ] || row "$source" rest 1 "$name" bench/tests/fuzz/run.sh "${name#fuzz_}"
        row "$source" first 1 "seeds_${name#fuzz_}" "$build/tests/seeds_${name#fuzz_}"
    done
    for source in $unit_tests; do
        name=${source##*/} name=${name%.c}
        unit_rows "$source" "$name"
        [[ " ${DOUBLE_TESTS:-} " != *" $name "* ]] || unit_rows "$source" "${name}_f64"
    done
    for source in $mpi_tests; do
        name=${source##*/} name=${name%.c}
        mpi_rows "$source" "$name" "${said[$source ranks]:-1 2 3 4 7}" "$first_ranks"
        mpi_rows "$source" "${name}_f64" "${said[$source double]:-1 2 3 4 7}" ""
    done
}

# Prints the names that share the longest part with a word; suffixes of program names are ignored.
nearest() {
    local length from all
    all=$(list_tests | cut -f4 | sed -E 's/(_f64)?( .*)?$//' | sort -u)
    for ((length = ${#1}; length > 2; length--)); do
        for ((from = 0; from + length <= ${#1}; from++)); do
            grep -F -- "${1:from:length}" <<<"$all" && return
        done
    done
}

check_filter() {
    list_tests | cut -f4 | grep -qF -- "$filter" && return
    echo "TEST=$filter: no test has this in its name; nearest: $(nearest "$filter" | tr '\n' ' ')" >&2
    return 2
}

case ${1:-} in
--check)
    check_filter
    exit
    ;;
--sources)
    # shellcheck disable=SC2086 # words
    printf '%s\n' $unit_tests $mpi_tests $scripts
    exit
    ;;
--list)
    list_tests
    exit
    ;;
--total)
    awk '{ passed += $1; failed += $2; skipped += $3 }
        END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 || passed == 0 }' \
        "$logs"/total.{first,rest}
    exit
    ;;
esac

tier=${1:-first}
[ -z "$filter" ] || tier=all
mkdir -p "$logs"
rm -f "$logs/total.$tier"
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
# shellcheck source=bench/tests/lib/own_environment.sh
. bench/tests/lib/own_environment.sh
own_environment "$own"

passed=0
failed=0
skipped=0
failures=()
durations=()

export CMOCKA_MESSAGE_OUTPUT=TAP
export SCALEBENCH_BUILD=$build
# MPICH and its transport keep memory until the process ends.
export LSAN_OPTIONS="suppressions=ci/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"

# cmocka 1.1 reports a skipped test as not ok.
skip_line='^(not )?ok .*# SKIP'

count() { # file, pattern
    grep -cE "$2" "$1"
}

log_of() { # name
    echo "$logs/${1//[ \/]/_}.log"
}

microseconds() {
    echo "${EPOCHREALTIME//[.,]/}"
}

# Runs a command as test $1. Writes its exit status, tenths of a second and core seconds, children included, beside its
# log.
execute() {
    local log begin status TIMEFORMAT='%U %S'
    log=$(log_of "$1")
    shift
    begin=$(microseconds)
    { time "$@" >"$log" 2>&1 </dev/null; } 2>"$log.cores"
    status=$?
    echo "$status $((($(microseconds) - begin) / 100000)) $(awk '{ s += $1 + $2 } END { printf "%.1f", s }' "$log.cores")" \
        >"$log.new"
    rm -f "$log.cores"
    mv "$log.new" "$log.status" # appears when complete
}

# Prints each failed test with its output; for a command that died, the end of its log.
what_failed() { # log
    awk -v skip="$skip_line" '/^(not )?ok |^[0-9]+[.][.]/ { shown = /^not ok / && $0 !~ skip } shown' "$1" | head -n 100 | grep . ||
        tail -n 30 "$1"
}

# Counts the results of test $1. A command that dies or prints no TAP counts as one failure.
settle() {
    local name=$1 log status tenths cores duration good bad skip
    log=$(log_of "$name")
    read -r status tenths cores <"$log.status"
    rm -f "$log.status"
    duration=$((tenths / 10)).$((tenths % 10))
    durations+=("$duration s, of cores $cores s: $name")
    skip=$(count "$log" "$skip_line")
    good=$(grep -E '^ok ' "$log" | grep -vcE "$skip_line")
    bad=$(grep -E '^not ok ' "$log" | grep -vcE "$skip_line")
    if { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; } || [ $((good + bad + skip)) -eq 0 ]; then
        bad=$((bad + 1))
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + skip))
    if [ "$bad" -gt 0 ]; then
        failures+=("$name")
        echo "FAILED $name (exit status $status, $duration s), from $log:"
        what_failed "$log"
    else
        echo "ok     $name: $good$([ "$skip" -gt 0 ] && echo ", $skip skipped") ($duration s)"
        grep -E "$skip_line" "$log" | sed -E 's/^(not )?ok [^#]*# SKIP/       skipped:/'
    fi
}

# taken: places of each running test, by name; a test that mostly waits takes none.
declare -A places=()

# Counts the results of ended tests.
settle_ended() {
    local name
    for name in "${!places[@]}"; do
        [ -f "$(log_of "$name").status" ] || continue
        settle "$name"
        unset "places[$name]"
    done
}

taken() {
    local sum=0 name
    for name in "${!places[@]}"; do
        ((sum += places[$name]))
    done
    echo "$sum"
}

# Waits until at most this many places are taken.
until_at_most() { # places
    settle_ended
    while [ "$(taken)" -gt "$1" ]; do
        wait -n 2>/dev/null
        settle_ended
    done
}

# Background jobs of a shell ignore SIGINT; `env` restores it. Tests send it, and a bash that ignores it would run its EXIT
# trap when a child dies of it, and continue.
start() { # name, command
    rm -f "$(log_of "$1").status"
    execute "$1" env --default-signal=INT,QUIT "${@:2}" &
}

rows=$(list_tests | awk -F'\t' -v tier="$tier" -v part="$filter" '(tier == "all" || $1 == tier) && index($4, part)' |
    sort -t$'\t' -s -k3,3nr)

# Prints the places of JOBS that a test with this number of cores takes.
places_of() { # cores
    case $1 in
    2) echo $((jobs > 1 ? 2 : 1)) ;;
    all) echo "$jobs" ;;
    *) echo "$1" ;;
    esac
}

# Starts the tests of some rows, each when enough places are free.
run_rows() { # pattern of cores
    local words need
    while IFS=$'\t' read -r -a words; do
        [[ ${words[1]:-} =~ ^($1)$ ]] || continue
        need=$(places_of "${words[1]}")
        until_at_most $((jobs - need))
        places[${words[3]}]=$need
        start "${words[@]:3}"
    done <<<"$rows"
    until_at_most 0
}

run_rows "0|1|2"
run_rows all # some judge times
while [ ${#places[@]} -gt 0 ]; do
    wait -n 2>/dev/null
    settle_ended
done

printf '%s\n' "${durations[@]}" >"$logs/durations.$tier"
if [ ${#durations[@]} -gt 10 ]; then
    echo "slowest of ${#durations[@]} tests ($SECONDS s in total, $(printf '%s\n' "${durations[@]}" |
        awk '{ s += $5 } END { printf "%.0f", s }') core-seconds):"
    printf '%s\n' "${durations[@]}" | LC_ALL=C sort -rn | sed -n '1,10s/^/  /p'
fi
[[ "${durations[*]} " != *": test_bf16 "* ]] || sed -n 's/^# \(tiles of AMX-BF16: .*\)/\1/p' "$(log_of test_bf16)"
[ "$failed" -eq 0 ] || echo "failed: ${failures[*]}"
echo "$passed $failed $skipped" >"$logs/total.$tier"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
