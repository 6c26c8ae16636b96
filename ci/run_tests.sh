#!/usr/bin/env bash
# Runs every test program and script, counts their TAP lines, says how long each took and which were the
# slowest, ends with `N passed, N failed, N skipped`.
# BUILD is the build folder, MPIEXEC the launcher, TEST a part of a file name, JOBS how many of the tests
# that use one core run at a time (one more than there are cores: each also waits, for files and processes).
# With --check nothing is run: it fails, and names the nearest, where TEST is part of no name; DOUBLE_TESTS are those that
# are built in double precision, too. With --sources the files that tests are in are listed.
set -u
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
[ "$*" = --check ] || [ "$*" = --sources ] || take_no_arguments "$@"

build=${BUILD:-build}
mpiexec=${MPIEXEC:-mpiexec}
filter=${TEST:-}
jobs=${JOBS:-$(($(nproc) + 1))}
logs=$build/test-logs
mkdir -p "$logs"

unit_tests=$(echo kernels/tests/test_*.c {kernels,comm,bench}/*/tests/test_*.c bench/workloads/*/tests/test_*.c)
scripts=$(echo bench/tests/*.sh bench/tests/{commands,nodes,reports,training}/*.sh)
mpi_tests=$(echo comm/tests/mpi_*.c bench/workloads/*/tests/mpi_*.c)

# Every name under which something runs, built or not.
names() {
    local source name
    for source in $unit_tests $mpi_tests bench/tests/fuzz/fuzz_*.c $scripts; do
        name=${source##*/} name=${name%.*}
        case $source in
        */mpi_*) printf '%s\n' "$name"{,_f64}" on "{1,2,3,4,7}" ranks" ;;
        */fuzz_*) printf '%s\n' "$name" "seeds_${name#fuzz_}" ;;
        *) echo "$name" ;;
        esac
    done
    for name in ${DOUBLE_TESTS:-}; do
        [[ $name == mpi_* ]] || echo "${name}_f64"
    done
}

# Those that share the longest part with a word, without what is added to a program's name.
nearest() {
    local length from all
    all=$(names | sed -E 's/(_f64)?( on .*)?$//' | sort -u)
    for ((length = ${#1}; length > 2; length--)); do
        for ((from = 0; from + length <= ${#1}; from++)); do
            grep -F -- "${1:from:length}" <<<"$all" && return
        done
    done
}

check_filter() {
    names | grep -qF -- "$filter" && return
    echo "TEST=$filter is part of no test's name; nearest: $(nearest "$filter" | tr '\n' ' ')" >&2
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
esac

passed=0
failed=0
skipped=0
failures=()
durations=()

export CMOCKA_MESSAGE_OUTPUT=TAP
export SCALEBENCH_BUILD=$build
# What a manager of versions puts before Python takes longer than most of what Python is asked for here.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ -z "$python" ] || [ "$python" = "$(command -v python3)" ] || PATH=${python%/*}:$PATH
# MPICH and its transport keep some memory until the end of the process.
export LSAN_OPTIONS="suppressions=ci/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"

# cmocka 1.1 calls a skipped test not ok.
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

# Runs a command as a test called $1. Beside its log stand its exit status, its tenths of a second, and the seconds that
# cores spent on it and on what it waited for.
execute() {
    local log begin status TIMEFORMAT='%U %S'
    log=$(log_of "$1")
    shift
    begin=$(microseconds)
    { time "$@" >"$log" 2>&1 </dev/null; } 2>"$log.cores"
    status=$?
    echo "$status $((($(microseconds) - begin) / 100000)) $(awk '{ s += $1 + $2 } END { printf "%.1f", s }' "$log.cores")" \
        >"$log.status"
    rm -f "$log.cores"
}

# Each test that failed with what it printed; of a command that died elsewhere, its last words.
what_failed() { # log
    awk -v skip="$skip_line" '/^(not )?ok |^[0-9]+[.][.]/ { shown = /^not ok / && $0 !~ skip } shown' "$1" | head -n 100 | grep . ||
        tail -n 30 "$1"
}

# Counts what the test called $1 printed. A command that dies, or prints no TAP, is a failure of its own.
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

run() {
    [[ $1 == *"$filter"* ]] || return 0
    execute "$@"
    settle "$1"
}

# Starts one that does nothing but wait for most of its time, and goes on; `settle_idle` counts it.
idle=()
idle_pids=()
start_idle() {
    [[ $1 == *"$filter"* ]] || return 0
    local name=$1
    shift
    idle+=("$name")
    execute "$name" env --default-signal=INT,QUIT "$@" &
    idle_pids+=($!)
}

settle_idle() {
    local name
    [ ${#idle[@]} -eq 0 ] || wait "${idle_pids[@]}" 2>/dev/null # `beside` may have waited for it
    for name in "${idle[@]}"; do
        settle "$name"
    done
}

# Runs one beside others of its kind, those that use one core; `all_settled` ends the group. A shell's background
# jobs ignore interrupts, which `env` takes back: tests send them, and a bash that ignores one runs its EXIT trap
# where a child dies of it, and goes on.
group=()
group_pids=()
at_a_time=$jobs
beside() {
    [[ $1 == *"$filter"* ]] || return 0
    while [ "$(jobs -rp | wc -l)" -ge $((at_a_time + ${#idle[@]})) ]; do
        wait -n
    done
    group+=("$1")
    execute "$1" env --default-signal=INT,QUIT "${@:2}" &
    group_pids+=($!)
}

all_settled() {
    local name
    [ ${#group[@]} -eq 0 ] || wait "${group_pids[@]}" 2>/dev/null # as above
    for name in "${group[@]}"; do
        settle "$name"
    done
    group=()
    group_pids=()
}

run_mpi_tests() { # run or beside, number of ranks
    local source program
    for source in $mpi_tests; do
        program=${source##*/} program=${program%.c}
        for program in "$program"{,_f64}; do
            "$1" "$program on $2 ranks" "$mpiexec" -n "$2" "$build/tests/$program"
        done
    done
}

# Slurm looks at the clock when it likes.
idle_scripts="slurm"
# What uses one core, the longest first: campaigns among them have a fake trainer or take a few steps, and
# no time of theirs is judged.
one_core="reports arm64 adding page claims make weights runner store pytorch_checkpoint figures memory_checks gradients
  tables run_ends accuracy run_beside artifact target timeline foreign schema compare bad_input data_read readme download
  completion own_net man pin scripts features"
# What starts ranks one after another and waits for them in between, the longest first: two of these at a time.
by_two="peer slurm_nodes trainer campaign kills bundle faults resources elastic peer_hosts sites ssh checkpoint zero tensor
  pipeline restarts diverged hosts plan no_memory"

declare -A script_of
for script in $scripts; do
    name=${script##*/} name=${name%.sh}
    script_of[$name]=$script
done
for name in $idle_scripts; do
    start_idle "$name" "${script_of[$name]}"
done
for name in $one_core; do
    beside "$name" "${script_of[$name]}"
done
# The harnesses of bench/tests/fuzz: made-up inputs where that was asked for, their seeds always.
for source in bench/tests/fuzz/fuzz_*.c; do
    name=${source##*/} name=${name%.c}
    [ -z "${SCALEBENCH_FUZZ_SECONDS:-}" ] || beside "$name" bench/tests/fuzz/run.sh "${name#fuzz_}"
    beside "seeds_${name#fuzz_}" "$build/tests/seeds_${name#fuzz_}"
done
for source in $unit_tests; do
    name=${source##*/} name=${name%.c}
    for program in "$build/tests/$name" "$build/tests/${name}_f64"; do
        [ ! -x "$program" ] || beside "${program##*/}" "$program"
    done
done
run_mpi_tests beside 1
all_settled
for ranks in 2 3 4 7; do
    run_mpi_tests run "$ranks"
done

at_a_time=2
for name in $by_two; do
    beside "$name" "${script_of[$name]}"
done
all_settled

# Some of these judge times.
for script in $scripts; do
    name=${script##*/} name=${name%.sh}
    [[ " ${one_core//$'\n'/} ${by_two//$'\n'/} $idle_scripts " == *" $name "* ]] || run "$name" "$script"
done
settle_idle

if [ ${#durations[@]} -gt 10 ]; then
    echo "the slowest of ${#durations[@]}, all in $SECONDS s, of cores $(printf '%s\n' "${durations[@]}" |
        awk '{ s += $5 } END { printf "%.0f", s }') s:"
    printf '%s\n' "${durations[@]}" | LC_ALL=C sort -rn | sed -n '1,10s/^/  /p'
fi
[ "$failed" -eq 0 ] || echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
