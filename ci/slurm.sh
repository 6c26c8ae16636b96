#!/usr/bin/env bash
# Runs a real Slurm on this machine, with all its files in one folder. One node, on loopback:
#
#   ci/slurm.sh run COMMAND...   start a Slurm, run the command with its SLURM_CONF, stop it
#   ci/slurm.sh start FOLDER     start a Slurm in a new or empty folder; print the variables to export
#   ci/slurm.sh stop FOLDER      cancel its jobs and end its daemons and processes; the folder stays
#
# Several nodes n0, n1, ..., each a network namespace whose interface its ranks use:
#
#   ci/slurm.sh --nodes N run COMMAND...   2 to 16; the command runs beside them, as on a login node
#
# Needs munged, slurmctld and slurmd (Debian's munge and slurm-wlm). Several nodes also need root, iproute2 and
# util-linux. One node needs no root: jobs then run as the user who started it. Several scripts can run at once.
# Exit status 3: not possible here, with the reason.
#
# Several nodes have process, mount and network namespaces of their own. These end with this script in any case, and with
# them all processes, interfaces, names and shared memory. Each node gets its share of the cores that this script may use;
# nodes share a core if there are fewer cores than nodes.
set -u
PATH=$PATH:/usr/sbin:/sbin
here=$(dirname "$(realpath "$0")")
# shellcheck source=ci/end_of.sh
. "$here/end_of.sh"
# shellcheck source=ci/help.sh
. "$here/help.sh"
answer_help "$@"
nodes=1

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
    id -un >/dev/null 2>&1 || unavailable "user $(id -u) has no name, which Slurm requires"
}

in_use() { # port
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Finds two free neighbouring ports below the range of automatic ports.
find_ports() {
    local i
    for ((i = 0; i < 100; i++)); do
        port=$((15000 + 2 * (RANDOM % 7500)))
        in_use "$port" || in_use $((port + 1)) || return 0
    done
    unavailable "no two free ports on loopback"
}

# task/none: Slurm does not confine jobs, so only their own programs keep limits.
write_configuration() {
    local user
    user=$(id -un)
    cat >"$dir/slurm.conf" <<CONF
ClusterName=scalebench
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
CredType=cred/munge
SlurmctldPort=$port
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
StateSaveLocation=$dir/state
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmdSpoolDir=$dir/spool/%n
SlurmdLogFile=$dir/slurmd-%n.log
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
$(describe_nodes)
PartitionName=main Nodes=ALL Default=YES OverSubscribe=NO MaxTime=INFINITE State=UP
CONF
}

# Each of several nodes accepts two ranks, even if its share is one core.
describe_nodes() {
    local i cpus=$(($(nproc) / nodes))
    if [ "$nodes" -eq 1 ]; then
        cat <<CONF
SlurmctldHost=localhost(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName=n0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$(nproc) RealMemory=500 State=UNKNOWN
CONF
        return
    fi
    echo "SlurmctldHost=head(10.77.0.254)"
    for ((i = 0; i < nodes; i++)); do
        echo "NodeName=n$i NodeAddr=10.77.0.$((i + 1)) Port=$((port + 1)) CPUs=$((cpus < 2 ? 2 : cpus)) RealMemory=500 State=UNKNOWN"
    done
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

nodes_are_idle() {
    [ "$(sinfo -h -o "%t %D")" = "idle $nodes" ]
}

start_daemons() {
    local i
    export SLURM_CONF=$dir/slurm.conf
    (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
    munged --force --num-threads=2 --socket="$dir/munge.sock" --key-file="$dir/munge.key" \
        --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" \
        >"$dir/start.log" 2>&1 || { broken "munged does not start" "$dir/start.log" || return; }
    slurmctld -c -f "$SLURM_CONF" >"$dir/start.log" 2>&1 ||
        { broken "slurmctld does not start" "$dir/start.log" || return; }
    for ((i = 0; i < nodes; i++)); do
        start_node "$i" >"$dir/start.log" 2>&1 ||
            { broken "slurmd does not start" "$dir/start.log" || return; }
    done
    wait_until 300 nodes_are_idle || broken "the nodes do not come up" "$dir/slurmd-n0.log"
}

start_node() { # number
    if [ "$nodes" -eq 1 ]; then
        slurmd -N n0 -f "$SLURM_CONF"
    else
        start_in_namespace "$1"
    fi
}

start() { # folder
    check_programs
    mkdir -p "$1" && dir=$(cd "$1" && pwd) || exit 1
    [ -z "$(ls -A "$dir")" ] || unavailable "$dir is not empty"
    # Addresses of sockets have at most 107 characters.
    [ "${#dir}" -lt 90 ] || unavailable "$dir is too long for the path of a socket"
    mkdir -p "$dir/state" "$dir/spool/n0"
    find_ports
    write_configuration
    start_daemons || {
        stop "$dir"
        exit 1
    }
}

# Prints daemons and job steps of this Slurm, which have its configuration in their environment or arguments.
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
    [ -f "$SLURM_CONF" ] || unavailable "$dir has no Slurm"
    if [ -e "$dir/slurmctld.pid" ]; then
        scancel --user="$(id -un)"
        wait_until 300 no_jobs
    fi
    end_daemon slurmd-n0
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

# --- Several nodes ------------------------------------------------------------------------------------

check_rights() {
    local program
    for program in ip nsenter unshare setpriv; do
        command -v "$program" >/dev/null ||
            unavailable "$program is missing (Debian's packages iproute2 and util-linux; make deps-ci)"
    done
    [ "$(id -u)" -eq 0 ] || unavailable "several nodes need root"
    unshare --pid --fork --kill-child --mount --mount-proc --net --uts --ipc true 2>/dev/null ||
        unavailable "cannot create network namespaces here"
}

# Runs the script again as the first process of namespaces that end with it. Passes signals on, since unshare blocks
# them.
run_nodes() { # command
    local folder child init
    check_programs
    check_rights
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount --mount-proc --net --uts --ipc \
        "$0" --inside "$folder" "$nodes" "$@" <&0 &
    child=$!
    # shellcheck disable=SC2064 # the number as it is now
    trap "for init in \$(pgrep -P $child); do kill -TERM \$init; done" INT TERM
    end_of "$child"
    exit
}

# Mounts /sys again, which shows the interfaces of the namespace that mounted it; keeps control groups.
own_sys() {
    mkdir -p "$dir/cgroup"
    mount --rbind /sys/fs/cgroup "$dir/cgroup" && mount -t sysfs sysfs /sys &&
        mount --rbind "$dir/cgroup" /sys/fs/cgroup
}

add_node() { # number
    ip netns add "n$1" && ip -n "n$1" link set lo up &&
        ip link add eth0 netns "n$1" type veth peer name "veth$1" && ip link set "veth$1" master eth0 up &&
        ip -n "n$1" addr add "10.77.0.$(($1 + 1))/24" dev eth0 && ip -n "n$1" link set eth0 up
}

# Gives the bridge the name of the nodes' interfaces, so that one setting of MPI holds everywhere.
build_network() {
    local i
    mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
        hostname head && own_sys && ip link set lo up && ip link add eth0 type bridge &&
        ip addr add 10.77.0.254/24 dev eth0 && ip link set eth0 up || return
    {
        printf '127.0.0.1 localhost\n10.77.0.254 head\n'
        for ((i = 0; i < nodes; i++)); do echo "10.77.0.$((i + 1)) n$i"; done
    } >"$dir/hosts"
    mount --bind "$dir/hosts" /etc/hosts || return
    for ((i = 0; i < nodes; i++)); do add_node "$i" || return; done
}

# Prints the cores of a node for taskset: its n / nodes of the n cores of this script, or one.
cores_of() { # number
    local part core cores=() each
    for part in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
        for ((core = ${part%-*}; core <= ${part#*-}; core++)); do cores+=("$core"); done
    done
    each=$((${#cores[@]} / nodes))
    if [ "$each" -eq 0 ]; then
        echo "${cores[$1 % ${#cores[@]}]}"
    else
        (IFS=, && echo "${cores[*]:$1 * each:each}")
    fi
}

start_in_namespace() { # number
    export dir
    export -f own_sys
    # shellcheck disable=SC2016 # expands in the other shell
    nsenter --net="/run/netns/n$1" unshare --uts --ipc --mount bash -c \
        'hostname "$1" && own_sys && mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec taskset -c "$2" slurmd -N "$1" -f "$SLURM_CONF"' - "n$1" "$(cores_of "$1")"
}

# Ranks of one node share memory; ranks of different nodes share none.
inside() { # folder, nodes, command
    local child i
    dir=$1
    nodes=$2
    port=6817
    shift 2
    mkdir "$dir/state"
    for ((i = 0; i < nodes; i++)); do mkdir -p "$dir/spool/n$i"; done
    build_network >"$dir/start.log" 2>&1 || unavailable "cannot create nodes here: $(cat "$dir/start.log")"
    write_configuration
    start_daemons || exit 1
    # PMIx needs one folder per node.
    export UCX_TLS=posix,sysv,cma,tcp,self UCX_NET_DEVICES=eth0 SLURM_PMIX_TMPDIR=/dev/shm
    "$@" <&0 &
    child=$!
    trap 'kill -TERM $child 2>/dev/null' INT TERM
    end_of "$child"
    exit
}

usage() {
    echo "usage: slurm.sh start FOLDER | stop FOLDER | [--nodes N] run COMMAND..." >&2
    exit 2
}

if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
fi
if [ "${1:-}" = --nodes ]; then
    if ! [[ ${2:-} =~ ^([2-9]|1[0-6])$ && ${3:-} = run && $# -gt 3 ]]; then usage; fi
    nodes=$2
    shift 3
    run_nodes "$@"
fi
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
*) usage ;;
esac
