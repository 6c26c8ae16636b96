#!/usr/bin/env bash
# Tests of everything that has more than one thread, under the thread sanitizer: thread pool, layers on
# several threads, waiting with its watchdog, threads that ask after messages, calls that are compared.
# BUILD is a build folder made with SANITIZE=thread, MPIEXEC the launcher. Any finding is a failure.
set -u
build=${BUILD:-build/tsan}
mpiexec=${MPIEXEC:-mpiexec}
export TSAN_OPTIONS="suppressions=$PWD/ci/tsan.supp halt_on_error=0 exitcode=66 history_size=4"
# The transport's hooks into memory calls and the sanitizer's do not get along.
export UCX_MEM_EVENTS=n
export CMOCKA_MESSAGE_OUTPUT=TAP
failed=0

run() { # name, command
    local name=$1 log=$build/$1.log status
    shift
    "$@" >"$log" 2>&1 </dev/null
    status=$?
    if [ "$status" -eq 0 ] && ! grep -q "WARNING: ThreadSanitizer" "$log"; then
        echo "ok     $name: $(grep -c '^ok ' "$log") tests"
    else
        failed=1
        echo "FAILED $name (exit status $status), $(grep -c 'WARNING: ThreadSanitizer' "$log") findings, in $log:"
        grep -m 1 -A 30 -E "WARNING: ThreadSanitizer|^not ok" "$log"
    fi
}

run test_base "$build/tests/test_base"
run test_layers "$build/tests/test_layers"
for program in mpi_overlap mpi_sync mpi_check; do
    run "$program" "$mpiexec" -n 2 "$build/tests/$program"
done
exit "$failed"
