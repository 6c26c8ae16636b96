# shellcheck shell=bash
# TAP from shell: `check NAME COMMAND...` is one test, `skip NAME REASON` another, `finish` prints the plan.
# Tests use programs from $SCALEBENCH_BUILD and a folder of their own, $tmp, which is removed at exit.
build=${SCALEBENCH_BUILD:-build}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
tmp=$(mktemp -d)
tests=${TESTS_BEFORE:-0} # tests of an outer script so far
failed=0
unset TESTS_BEFORE
# A child that a signal ends before exec runs the trap too, so the trap checks the process.
trap '[ "$BASHPID" -ne $$ ] || rm -rf "$tmp"' EXIT
# The input of all commands never ends: hydra forwards the end of its input and dies of SIGPIPE, losing output, if the
# launch is over by then (once in a thousand launches on a busy machine).
mkfifo "$tmp/silence" && exec {silence}<>"$tmp/silence" <&"$silence" && rm "$tmp/silence" || exit 1
# shellcheck source=bench/tests/lib/own_environment.sh
. "${BASH_SOURCE[0]%/*}/own_environment.sh"
[ -d "${SCALEBENCH_OWN:-}" ] || own_environment "$tmp/.environment"
# Scripts that run at the same time do not wait for each other's cores or see each other's results.
export SCALEBENCH_LOCKS=$tmp/locks SCALEBENCH_OUT=$tmp/results_by_default
unset COLUMNS # tables are as wide as they are
# shellcheck disable=SC2034 # used by the tests
mpiexec=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec)}
# shellcheck disable=SC2034
scalebench=$build/scalebench train_cnn=$build/train_cnn

check() { # name, command and arguments
    local name=$1 begin=${EPOCHREALTIME//[.,]/} tenths
    shift
    tests=$((tests + 1))
    if "$@" >"$tmp/check.log" 2>&1; then
        echo "ok $tests - $name"
    else
        failed=$((failed + 1))
        echo "not ok $tests - $name"
        sed 's/^/# /' "$tmp/check.log"
    fi
    tenths=$(((${EPOCHREALTIME//[.,]/} - begin) / 100000))
    [ "$tenths" -lt 50 ] || echo "# that took $((tenths / 10)).$((tenths % 10)) s"
}

skip() { # name, reason
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

# Skips a test because a package (one word) is missing. Fails instead if $SCALEBENCH_REQUIRE, a list of words, names it.
lacks() { # name, package
    if [[ " ${SCALEBENCH_REQUIRE:-} " == *" $2 "* ]]; then
        check "$1" eval "echo 'no $2 here, and SCALEBENCH_REQUIRE wants it'; false"
    else
        skip "$1" "no $2"
    fi
}

# inside NAME PACKAGE COMMAND...: counts the tests that the command prints as this script's, up to its plan. Returns false
# if it printed none. With exit status 3 NAME is skipped, because PACKAGE is missing.
inside() {
    local name=$1 package=$2 status
    shift 2
    TESTS_BEFORE=$tests "$@" 2>"$tmp/inside.log" | tee "$tmp/inside" | grep --line-buffered -v '^1\.\.'
    status=${PIPESTATUS[0]}
    tests=$((tests + $(grep -cE '^(not )?ok ' "$tmp/inside")))
    failed=$((failed + $(grep -c '^not ok ' "$tmp/inside")))
    if grep -q '^1\.\.' "$tmp/inside"; then
        return
    fi
    sed 's/^/# /' "$tmp/inside.log"
    if [ "$status" -eq 3 ] && [ ! -s "$tmp/inside" ]; then
        lacks "$name" "$package"
    else
        check "$name" eval "echo 'ended with status $status before its plan'; false"
    fi
    return 1
}

# Prints the first Python with a module: the one on PATH, else the distribution's.
python_with() { # module
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -c "import $1" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

finish() {
    echo "1..$tests"
    [ "$failed" -eq 0 ]
    exit
}

# expect STATUS TEXT COMMAND...: checks that the command exits with STATUS and prints TEXT.
expect() {
    local want=$1 text=$2 status
    shift 2
    "$@" >"$tmp/expect.log" 2>&1 <&"$silence"
    status=$?
    cat "$tmp/expect.log"
    [ "$status" -eq "$want" ] || {
        echo "exit status $status, expected $want"
        return 1
    }
    grep -qF -- "$text" "$tmp/expect.log" || {
        echo "the output lacks: $text"
        return 1
    }
}

# Prints this user's processes whose command line contains the word $1.
processes() {
    pgrep -f -- "$1"
}

# Prints the trainer's process of a rank. Its crash reporter has the same command line and environment.
process_of_rank() { # word of the command line, rank
    local pid
    for pid in $(processes "$1"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = train_cnn ] &&
            tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "PMI_RANK=$2" && echo "$pid"
    done
}

# Waits until no process with $1 in its command line is left; fails after half a minute.
gone() {
    local i
    for ((i = 0; i < 300; i++)); do
        processes "$1" >/dev/null || return 0
        sleep 0.1
    done
    processes "$1" -a
    return 1
}

# Waits (up to ten minutes, for slow and busy machines) until the command succeeds.
until_true() {
    local i
    for ((i = 0; i < 6000; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    return 1
}
