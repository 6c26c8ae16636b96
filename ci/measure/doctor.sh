#!/usr/bin/env bash
# Checks that `scalebench doctor` finds the slow host and reports no other host. It runs on HOSTS (4) emulated hosts at
# 1 Gbit/s, TIMES (10) for each kind, in turns, with another host each time:
#
#   link   one host's link is limited to SHARE (90) % of the rate
#   core   one host's processes are limited to SHARE % of a core by a cgroup
#   stop   one host's process is stopped for the rest of each tenth of a second
#   none   no host is slow
#
# Prints CSV, one row per run, to standard output and one sentence per kind to standard error. KINDS selects kinds.
# Needs root and a cgroup that limits processors. BUILD is the build folder; its doctor/ keeps the output of each run.
# Use an idle machine. Exit status 1: a slow host was not found, or another host was reported.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/../help.sh"
[ "${1:-}" = beside ] || take_no_arguments "$@"
cd "$(dirname "$0")/../.."
self=$PWD/ci/measure/doctor.sh
# shellcheck source=ci/measure/stage.sh
. ci/measure/stage.sh
build=$(cd "${BUILD:-build}" && pwd)
work=$build/doctor
hosts=${HOSTS:-4}
share=${SHARE:-90}

# ---- Beside the hosts ------------------------------------------------------------------------------------

# Stops the measuring process of a host for the rest of each tenth of a second.
stop_and_go() { # host
    local pid busy idle
    busy=$(awk -v share="$share" 'BEGIN { print 0.1 * share / 100 }')
    idle=$(awk -v busy="$busy" 'BEGIN { print 0.1 - busy }')
    until pid=$(ip netns pids "$SCALEBENCH_NETNS-$1" | while read -r p; do
        [ "$(cat "/proc/$p/comm" 2>/dev/null)" != doctor_ranks ] || echo "$p"
    done) && [ -n "$pid" ]; do sleep 0.05; done
    while kill -STOP "$pid" 2>/dev/null; do
        sleep "$idle"
        kill -CONT "$pid" 2>/dev/null || break
        sleep "$busy"
    done
}

beside_hosts() { # kind, host
    local group='' stopper='' status=0
    case $1 in
    link) shape_host "$2" 1000 "$share" ;;
    core)
        group=$(limit_cores "doctor-$$" "$share")
        launch_in "$work/launcher" "$2" "$group"
        export SCALEBENCH_LAUNCHER=$work/launcher
        ;;
    stop)
        stop_and_go "$2" &
        stopper=$!
        ;;
    esac
    SCALEBENCH_LOCKS=$work/locks "$build/scalebench" doctor --out "$work/results" --set "site=emulated nodes=$hosts" || status=$?
    [ -z "$stopper" ] || kill "$stopper" 2>/dev/null || true
    [ -z "$group" ] || rmdir "$group"
    return "$status"
}

if [ "${1:-}" = beside ]; then
    beside_hosts "$2" "$3"
    exit
fi

# ---- All runs --------------------------------------------------------------------------------------------

rm -rf "$work"
mkdir -p "$work"

# Prints the expected and the reported findings about hosts as "finding subject".
wanted() { # kind, host
    case $1 in
    link) echo "sends_slow $2" ;;
    core | stop) echo "core_lost $2" ;;
    esac
}

named() { # file
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["counts"] == 1 { printf "%s%s %s", n++ ? "; " : "", $at["finding"], $at["subject"] }' "$1"
}

run() { # number, kind
    local host=node$((($1 * 7 + ${#2}) % hosts)) log=$work/$2-$1.txt status=0 begin=$SECONDS found want right
    ci/netns.sh --hosts "$hosts" --rate 1gbit exec "$self" beside "$2" "$host" >"$log" 2>&1 || status=$?
    [ "$status" -le 1 ] || {
        tail -n 20 "$log" >&2
        exit 1
    }
    found=$(named "$work/results/doctor/latest/findings.csv")
    want=$(wanted "$2" "$host")
    right=no
    [ "$found" != "$want" ] || right=yes
    [ "$2" != none ] || host=
    echo "$2,$1,$host,$want,\"$found\",$right,$((SECONDS - begin))" | tee -a "$work/doctor.csv"
}

echo "staged,run,host,wanted,found,right,seconds" | tee "$work/doctor.csv"
for ((i = 0; i < ${TIMES:-10}; i++)); do
    for kind in ${KINDS:-none link core stop}; do
        run "$i" "$kind"
    done
done
awk -F, 'NR > 1 { n[$1]++; right[$1] += $(NF - 1) == "yes"; if ($NF > longest) longest = $NF }
    END {
        for (kind in n) printf "%-5s %d of %d runs found what was staged and nothing else\n", kind, right[kind], n[kind]
        printf "the longest took %d s\n", longest
    }' "$work/doctor.csv" >&2
! grep -qE ',no,[0-9]+$' "$work/doctor.csv"
