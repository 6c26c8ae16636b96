#!/usr/bin/env bash
# Runs every test program and script, counts their TAP lines, ends with `N passed, N failed, N skipped`.
# BUILD is the build folder, MPIEXEC the launcher, TEST a part of a file name.
set -u

build=${BUILD:-build}
mpiexec=${MPIEXEC:-mpiexec}
filter=${TEST:-}
logs=$build/test-logs
mkdir -p "$logs"

passed=0
failed=0
skipped=0
failures=()

export CMOCKA_MESSAGE_OUTPUT=TAP
export SCALEBENCH_BUILD=$build
# MPICH and its transport keep some memory until the end of the process.
export LSAN_OPTIONS="suppressions=ci/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"

# cmocka 1.1 calls a skipped test not ok.
skip_line='^(not )?ok .*# SKIP'

count() { # file, pattern
    grep -cE "$2" "$1"
}

# Runs a command as a test called $1. A command that dies, or prints no TAP, is a failure of its own.
run() {
    local name=$1 log status good bad skip
    shift
    [[ $name == *"$filter"* ]] || return 0
    log=$logs/${name//[ \/]/_}.log
    "$@" >"$log" 2>&1 </dev/null
    status=$?
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
        echo "FAILED $name (exit status $status), end of $log:"
        tail -n 30 "$log"
    else
        echo "ok     $name: $good$([ "$skip" -gt 0 ] && echo ", $skip skipped")"
        grep -E "$skip_line" "$log" | sed -E 's/^(not )?ok [^#]*# SKIP/       skipped:/'
    fi
}

for source in kernels/tests/test_*.c comm/tests/test_*.c bench/tests/test_*.c; do
    name=$(basename "$source" .c)
    for program in "$build/tests/$name" "$build/tests/${name}_f64"; do
        [ ! -x "$program" ] || run "$(basename "$program")" "$program"
    done
done

for source in comm/tests/mpi_*.c bench/tests/mpi_*.c; do
    name=$(basename "$source" .c)
    for ranks in 1 2 3 4 7; do
        for program in "$name" "${name}_f64"; do
            run "$program on $ranks ranks" "$mpiexec" -n "$ranks" "$build/tests/$program"
        done
    done
done

for script in bench/tests/*.sh; do
    run "$(basename "$script" .sh)" "$script"
done

[ "$failed" -eq 0 ] || echo "failed: ${failures[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
