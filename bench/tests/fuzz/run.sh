#!/usr/bin/env bash
# Fuzzes one reader with libFuzzer, as `run.sh spec`, for $SCALEBENCH_FUZZ_RUNS inputs or $SCALEBENCH_FUZZ_SECONDS. Its
# corpus is kept in build/fuzz/corpus, inputs that crash, leak or hang in build/fuzz/found.
set -u
. bench/tests/lib/tap.sh
reader=$1
fuzzer=$build/fuzz/fuzz_$reader
corpus=$build/fuzz/corpus/$reader
found=$build/fuzz/found

# Prints further files of the repository that this reader accepts.
case $reader in
spec) more="configs bench/tests/bad/spec" ;;
model) more="configs/models bench/tests/bad/models" ;;
published) more=results/published ;;
summary) more=results/reference/strong_scaling ;;
*) more= ;;
esac

# Largest input in bytes: six files of CIFAR-10 with one record each.
case $reader in
data) longest=32768 ;;
*) longest=16384 ;;
esac

# In memory, since every input is a file.
work=$(mktemp -d /dev/shm/scalebench-fuzz-XXXXXX 2>/dev/null || echo "$tmp")
trap 'rm -rf "$tmp" "$work"' EXIT

fuzz() { # options
    # shellcheck disable=SC2086 # a list of folders
    TMPDIR=$work SCALEBENCH_LOG=error UBSAN_OPTIONS=print_stacktrace=1 "$fuzzer" -print_final_stats=1 \
        "$@" -timeout=120 -rss_limit_mb=2560 -max_len=$longest \
        -artifact_prefix="$found/$reader-" "$corpus" "bench/tests/fuzz/seeds/$reader" $more \
        >"$tmp/log" 2>&1 || {
        tail -n 60 "$tmp/log"
        echo "again: $fuzzer FILE"
        return 1
    }
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec):' "$tmp/log"
}

several() { # whether several inputs ran
    grep -qE '^stat::number_of_executed_units: +[0-9]{2}' "$tmp/log"
}

# Each initial file counts as a run. A reader may need seconds for an input, so the time is extended if it was too short
# for several.
finds_nothing() {
    local files
    mkdir -p "$corpus" "$found"
    if [ -n "${SCALEBENCH_FUZZ_RUNS:-}" ]; then
        # shellcheck disable=SC2086 # a list of folders
        files=$(find "$corpus" "bench/tests/fuzz/seeds/$reader" $more -type f | wc -l)
        fuzz -runs=$((files + SCALEBENCH_FUZZ_RUNS)) && several
    else
        fuzz -max_total_time="${SCALEBENCH_FUZZ_SECONDS:-60}" && { several || { fuzz -runs=20 && several; }; }
    fi
}

if [ -x "$fuzzer" ]; then
    check "made-up inputs for $reader are read or refused" finds_nothing
else
    lacks "made-up inputs for $reader are read or refused" fuzzers
fi
finish
