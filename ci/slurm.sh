#!/usr/bin/env bash
# A real Slurm of one node on this machine, on loopback, everything it has in one folder:
#
#   ci/slurm.sh run COMMAND...   start one, run the command with its SLURM_CONF, stop it again
#   ci/slurm.sh start FOLDER     start one in a folder that is new or empty; prints what to export
#   ci/slurm.sh stop FOLDER      cancel its jobs, end its daemons, leave no process; the folder stays
#
# Needs munged, slurmctld and slurmd (Debian's munge and slurm-wlm), no root: without it jobs run as
# the user who started it. Several at once do not meet. Exit status 3: cannot be had here (why).
set -u
PATH=$PATH:/usr/sbin:/sbin

unavailable() {
    echo "slurm.sh: $1" >&2
    exit 3
}

broken() { # what, log file
    echo "slurm.sh: $1" >&2
    [ ! -f "${2:-}" ] || tail -n 20 "$2" >&2
    return 1
}

check_programs() {
    local program missing=()
    for program in munged slurmctld slurmd sbatch scancel squeue sinfo; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    [ "${#missing[@]}" -eq 0 ] ||
        unavailable "missing: ${missing[*]} (Debian's packages munge and slurm-wlm; make deps-ci)"
    id -un >/dev/null 2>&1 || unavailable "user $(id -u) has no name, and Slurm wants one"
}

in_use() { # port
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Two neighbours below the ports that systems hand out by themselves.
find_ports() {
    local i
    for ((i = 0; i < 100; i++)); do
        port=$((15000 + 2 * (RANDOM % 7500)))
        in_use "$port" || in_use $((port + 1)) || return 0
    done
    unavailable "no two free ports on loopback"
}

# Nothing confines jobs (task/none): so the limits are those that a job's own programs keep.
write_configuration() {
    local user
    user=$(id -un)
    cat >"$dir/slurm.conf" <<CONF
ClusterName=scalebench
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=$port
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
StateSaveLocation=$dir/state
SlurmdPidFile=$dir/slurmd.pid
SlurmdSpoolDir=$dir/spool
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/jobs.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=2
ReturnToService=2
JobRequeue=0
KillWait=15
SwitchType=switch/none
MpiDefault=none
NodeName=n0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$(nproc) RealMemory=500 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES OverSubscribe=NO MaxTime=INFINITE State=UP
CONF
}

wait_until() { # tenths of a second, command
    local i left=$1
    shift
    for ((i = 0; i < left; i++)); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    return 1
}

node_is_idle() {
    [ "$(sinfo -h -o %t)" = idle ]
}

start_daemons() {
    export SLURM_CONF=$dir/slurm.conf
    (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
    munged --force --num-threads=2 --socket="$dir/munge.sock" --key-file="$dir/munge.key" \
        --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" \
        >"$dir/start.log" 2>&1 || { broken "munged does not start" "$dir/start.log" || return; }
    slurmctld -c -f "$SLURM_CONF" >"$dir/start.log" 2>&1 ||
        { broken "slurmctld does not start" "$dir/start.log" || return; }
    slurmd -N n0 -f "$SLURM_CONF" >"$dir/start.log" 2>&1 ||
        { broken "slurmd does not start" "$dir/start.log" || return; }
    wait_until 300 node_is_idle || broken "the node does not come up" "$dir/slurmd.log"
}

start() { # folder
    check_programs
    mkdir -p "$1" && dir=$(cd "$1" && pwd) || exit 1
    [ -z "$(ls -A "$dir")" ] || unavailable "$dir is not empty"
    # The address of a socket holds 107 characters.
    [ "${#dir}" -lt 90 ] || unavailable "$dir is too long a name for a socket in it"
    mkdir "$dir/state" "$dir/spool"
    find_ports
    write_configuration
    start_daemons || {
        stop "$dir"
        exit 1
    }
}

# Daemons and job steps of this Slurm: they carry its configuration in their environment or arguments.
processes() {
    local path pid
    for path in /proc/[0-9]*; do
        pid=${path#/proc/}
        case $(cat "$path/comm" 2>/dev/null) in
        munged | slurmctld | slurmd | slurmstepd) ;;
        *) continue ;;
        esac
        cat "$path/environ" "$path/cmdline" 2>/dev/null | tr '\0' '\n' | grep -qF "$dir/" &&
            echo "$pid"
    done
}

no_jobs() {
    [ -z "$(squeue -h)" ]
}

none_left() {
    [ -z "$(processes)" ]
}

end_daemon() { # name
    local pid
    pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null
    wait_until 100 test ! -e "/proc/$pid"
}

stop() { # folder
    local pid
    dir=$(cd "$1" && pwd) || exit 1
    export SLURM_CONF=$dir/slurm.conf
    [ -f "$SLURM_CONF" ] || unavailable "$dir holds no Slurm"
    if [ -e "$dir/slurmctld.pid" ]; then
        scancel --user="$(id -un)"
        wait_until 300 no_jobs
    fi
    end_daemon slurmd
    end_daemon slurmctld
    end_daemon munged
    wait_until 50 none_left && return 0
    for pid in $(processes); do
        echo "slurm.sh: killing $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")" >&2
        kill -KILL "$pid"
    done
    wait_until 50 none_left
}

run() { # command
    local folder status
    check_programs
    folder=$(mktemp -d)
    trap 'stop "$folder"; rm -rf "$folder"' EXIT
    start "$folder"
    "$@"
    status=$?
    exit "$status"
}

case "${1:-} $#" in
"start 2")
    start "$2"
    echo "export SLURM_CONF=$dir/slurm.conf"
    ;;
"stop 2") stop "$2" ;;
run\ [2-9] | run\ [1-9][0-9]*)
    shift
    run "$@"
    ;;
*)
    echo "usage: slurm.sh start FOLDER | stop FOLDER | run COMMAND..." >&2
    exit 2
    ;;
esac
