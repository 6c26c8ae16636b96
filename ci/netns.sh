#!/usr/bin/env bash
# Emulates hosts on one machine. Each host is a network namespace whose interface joins a bridge and is limited in rate,
# so that messages cost as much as between real hosts:
#
#   ci/netns.sh [OPTION]... run PROGRAM [ARGUMENT]...    run one rank on every host, each on a core
#   ci/netns.sh [OPTION]... exec COMMAND [ARGUMENT]...   run the command once beside the hosts; campaigns with
#                                                        site: emulated use them
#   ci/netns.sh [OPTION]... probe                        test whether hosts can be made here; print the reason if not
#
# Campaigns with site: emulated start their hosts by themselves with
#
#   ci/netns.sh [OPTION]... hold                         print `ready ID` and keep the hosts until standard input ends;
#                                                        an input line `rate RATE delay TIME` changes their links, and
#                                                        `ready` follows
#   ci/netns.sh enter ID COMMAND [ARGUMENT]...           run the command once beside hosts that are held
#   ci/netns.sh sweep                                    remove hosts whose owner was killed
#
#   --hosts N     2 to 16 (2)
#   --rate RATE   rate of every interface, as tc writes it (1gbit, 100mbit), or none (1gbit)
#   --delay TIME  delay of every packet, such as 0.1ms (none); needs a kernel with netem
#   --help
#
# Hosts and their processes are removed at the end. Those of a killed owner are removed at the next start. Several
# scripts can run at once: names contain the owner's process and its start time. Needs ip and tc (Debian's iproute2),
# util-linux, MPICH, and root or user namespaces. Exit status: the command's; 2 usage; 3 not possible here, with the reason.
#
# After a pause, messages smaller than 64 KiB or than 2.1 ms at the rate pass at the machine's own speed.
#
# Ranks on different hosts share no memory, although they could. Hosts have names of their own, by which MPICH tells nodes
# apart, and IPC namespaces of their own, by which UCX does. Ranks of one host share memory.
#
# With MPICH 4.0 on UCX over TCP, some runs hang in MPI_Finalize if UCX_RNDV_THRESH is raised (inf, 16m). Do not raise it
# for programs of your own. Campaigns raise it for the trainer, which ends without MPI_Finalize. Outside of campaigns,
# where measure.limit does not apply, stop such a run yourself.
set -u
PATH=$PATH:/usr/sbin:/sbin
self=$(realpath "$0")
arguments=("$@")

hosts=2
rate=1gbit
delay=none

usage() { # message
    echo "netns.sh: $1 (ci/netns.sh --help)" >&2
    exit 2
}

unavailable() {
    echo "netns.sh: $1" >&2
    exit 3
}

# ---- On a host -----------------------------------------------------------------------------------------

# Starts a process on a host. Hydra calls it like ssh. UCX looks for its interface in /sys, which only `ip netns exec`
# shows. UCX's settings hold on the hosts alone: local points of the campaign share memory as usual.
start_on_host() { # options of ssh, host, command
    while [[ $1 == -* ]]; do shift; done
    local host=$1 word before='' command=()
    shift
    # A command for a shell: hydra quotes the proxy's path but not this script's.
    for word; do
        [ "$before" != --launcher-exec ] || word=${word@Q}
        before=$word
        command+=("$word")
    done
    export UCX_TLS=posix,sysv,cma,tcp,self UCX_NET_DEVICES=eth0
    exec ip netns exec "$SCALEBENCH_NETNS-$host" unshare --uts --ipc \
        sh -c "hostname $host; exec ${command[*]}" </dev/null
}

[[ ${1:-} != -x || -z ${SCALEBENCH_NETNS:-} ]] || start_on_host "$@"

# shellcheck source=ci/end_of.sh
. "${self%/*}/end_of.sh"
# shellcheck source=ci/help.sh
. "${self%/*}/help.sh"

# ---- Arguments -----------------------------------------------------------------------------------------

while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) answer_help "$1" ;;
    --hosts | --rate | --delay)
        [ $# -gt 1 ] || usage "$1 needs a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    -*) usage "unknown option $1" ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || usage "program missing"
mode=$1
shift
case $mode in
run | exec) [ $# -gt 0 ] || usage "program missing" ;;
enter) [ $# -gt 1 ] || usage "ID or command missing" ;;
hold | probe | sweep) [ $# -eq 0 ] || usage "unexpected argument '$1'" ;;
*) usage "unknown command '$mode'; known: run exec probe hold enter sweep" ;;
esac

check_link() {
    [[ $rate =~ ^([0-9]+(\.[0-9]+)?[kmgt]?bit|none)$ ]] || usage "--rate $rate: 1gbit, 100mbit, ... or none"
    [[ $delay =~ ^([0-9]+(\.[0-9]+)?(us|ms|s)|none)$ ]] || usage "--delay $delay: 100us, 0.1ms, ... or none"
}
[[ $hosts =~ ^([2-9]|1[0-6])$ ]] || usage "--hosts $hosts: 2 to 16"
check_link

# ---- Rights --------------------------------------------------------------------------------------------

for program in ip tc unshare nsenter setpriv; do
    [ -x "$(type -P "$program")" ] ||
        unavailable "$program is missing (Debian's packages iproute2 and util-linux; make deps-ci)"
done

own_users=(unshare --user --map-root-user --mount --net)

# Without the right to make namespaces, the script runs as root of a user namespace. Names of networks in it are private,
# and everything ends with its last process.
become_root() {
    local error names=/run/netns
    if [ -n "${SCALEBENCH_NETNS_ROOT:-}" ]; then
        unset SCALEBENCH_NETNS_ROOT
        [ -d "$names" ] || names=/run
        error=$(mount -t tmpfs tmpfs "$names" 2>&1) || unavailable "hosts need root: $error"
    elif ! unshare --net true 2>/dev/null; then
        error=$("${own_users[@]}" true 2>&1) || unavailable "hosts need root or user namespaces: $error"
        SCALEBENCH_NETNS_ROOT=1 exec "${own_users[@]}" "$self" "${arguments[@]}"
    fi
}

# ---- Owners of hosts ---------------------------------------------------------------------------------------

# Prints the start time of a process in ticks since boot; nothing if it has ended, zombies included. Its name, in
# parentheses, may contain blanks.
began() { # process
    local stat
    read -r stat 2>/dev/null <"/proc/$1/stat" || return
    # shellcheck disable=SC2086 # one word a field
    set -- ${stat##*) }
    [[ $1 == [ZX] ]] || echo "${20}"
}

# Process numbers differ between PID namespaces.
numbers=$(readlink /proc/self/ns/pid)
numbers=${numbers//[!0-9]/}

# sb<process>t<start time>n<PID namespace>
id=sb$$t$(began $$)n$numbers

owner_of() { # ID
    local owner=${1#sb}
    echo "${owner%%t*}"
}

lives() { # ID
    local since=${1#*t}
    [ "$(began "$(owner_of "$1")")" = "${since%%n*}" ]
}

# ---- Up and down ---------------------------------------------------------------------------------------

down() { # ID
    local path ns pids
    for path in /run/netns/"$1"-*; do
        ns=${path##*/}
        pids=$(ip netns pids "$ns" 2>/dev/null)
        # shellcheck disable=SC2086 # one word a process
        [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
        ip netns del "$ns" 2>/dev/null
    done
    rm -rf "${TMPDIR:-/tmp}/$1"
}

# Removes the hosts of killed owners. Skips other users' hosts and those of other PID namespaces.
sweep() {
    local path name
    for path in /run/netns/sb*t*n"$numbers"-* "${TMPDIR:-/tmp}"/sb*t*n"$numbers"; do
        name=${path##*/}
        name=${name%-*}
        [[ ! -O $path || ! $name =~ ^sb[0-9]+t[0-9]+n[0-9]+$ ]] || lives "$name" || down "$name"
    done
}

create() { # what, command
    local error
    error=$("${@:2}" 2>&1) || unavailable "cannot create $1 here: $error"
}

no_room() { # path, message
    unavailable "$1 cannot be written: ${2##*: }; set TMPDIR to a folder with free space"
}

# Appends a line to a file of the folder.
note() { # file, text
    local error
    error=$(printf '%s\n' "$2" 2>&1 >>"$folder/$1") || no_room "$folder/$1" "$error"
}

# Prints the bytes that pass at the machine's own speed after a pause: 2.1 ms of `rate`, since timers of a busy machine may
# be that late, and at least one hand-over of a core. 256 KiB at 1gbit, 64 KiB up to 250mbit.
burst() {
    awk -v rate="$rate" 'BEGIN {
        n = split("bit kbit mbit gbit tbit", units, " ")
        for (i = 1; i <= n; i++) per[units[i]] = 1000 ^ (i - 1)
        unit = rate
        gsub(/[0-9.]/, "", unit)
        bytes = rate * per[unit] * 262144 / 1e9
        printf "%.0f\n", bytes < 65536 ? 65536 : bytes
    }'
}

# Adds a queue that sends at `rate`.
limit_rate() { # device, command that runs tc
    local error
    [ "$rate" = none ] || error=$("${@:2}" qdisc add dev "$1" root handle 1: tbf rate "$rate" \
        burst "$(burst)" latency 10ms 2>&1) || unavailable "this kernel cannot shape traffic (tbf): $error"
}

add_delay() { # device, command that runs tc
    local error parent=(root)
    [[ $rate == none || $1 == lo ]] || parent=(parent 1:1)
    [ "$delay" = none ] || error=$("${@:2}" qdisc add dev "$1" "${parent[@]}" handle 10: netem \
        delay "$delay" 2>&1) || unavailable "this kernel cannot delay packets by $delay (netem): $error"
}

shape() { # host
    limit_rate eth0 tc -n "$id-$1"
    add_delay eth0 tc -n "$id-$1"
}

add_namespace() { # name
    create "network namespace" ip netns add "$1"
    create loopback ip -n "$1" link set lo up
}

# Disables automatic IPv6 addresses, whose announcements would be extra traffic.
switch_on() { # namespace, device
    create interface ip -n "$1" link set "$2" addrgenmode none
    create interface ip -n "$1" link set "$2" up
}

# Gives the bridge a hardware address. Otherwise it takes a host's and changes it when that host is removed, while the
# others still send to the old one.
add_head() {
    add_namespace "$1"
    create bridge ip -n "$1" link add br0 address 02:00:0a:4d:00:fe type bridge mcast_snooping 0
    create address ip -n "$1" addr add 10.77.0.254/24 dev br0
    switch_on "$1" br0
}

add_host() { # number, head
    local ns=$id-node$1
    add_namespace "$ns"
    create interface ip link add eth0 netns "$ns" type veth peer name "veth$1" netns "$2"
    create interface ip -n "$2" link set "veth$1" master br0
    switch_on "$2" "veth$1"
    create address ip -n "$ns" addr add "10.77.0.$(($1 + 1))/24" dev eth0
    switch_on "$ns" eth0
    shape "node$1"
    note hosts "node$1:1"
}

folder=${TMPDIR:-/tmp}/$id
up() {
    local i error
    sweep
    trap 'down "$id"' EXIT
    error=$(mkdir -m 700 "$folder" 2>&1) || no_room "$folder" "$error"
    add_head "$id-head"
    for ((i = 0; i < hosts; i++)); do
        add_host "$i" "$id-head"
    done
}

# Uses unnamed namespaces, which end with the command.
probe() {
    create bridge unshare --net ip link add br0 type bridge mcast_snooping 0
    create interface unshare --net ip link add eth0 type veth peer name veth0
    limit_rate lo unshare --net tc
    add_delay lo unshare --net tc
}

# ---- Commands beside the hosts -----------------------------------------------------------------------------

# Reads lines of a campaign, which may end at any time.
hold() {
    local i
    echo "ready $id"
    while read -r _ rate _ delay; do
        check_link
        for ((i = 0; i < hosts; i++)); do
            tc -n "$id-node$i" qdisc del dev eth0 root 2>/dev/null
            shape "node$i"
        done
        echo ready
    done
}

# Names belong to this process or to the holder of the hosts.
enter() { # ID, command
    local head=/run/netns/$1-head
    if [[ ! $1 =~ ^sb[0-9]+t[0-9]+n[0-9]+$ ]] || ! lives "$1"; then
        echo "netns.sh: hosts '$1' not found here" >&2 # the holder may have ended; the next call may find others
        exit 1
    fi
    export SCALEBENCH_NETNS=$1
    [ ! -e "$head" ] || exec nsenter --net="$head" "${@:2}"
    exec nsenter --target "$(owner_of "$1")" --user --mount --preserve-credentials \
        env --chdir="$PWD" nsenter --net="$head" "${@:2}"
}

# Binds each rank to the next core of this shell.
on_own_core() {
    local cores
    cores=$(taskset -cp $$ | sed 's/.*: //')
    note rank "$(cat <<END
#!/usr/bin/env bash
cores=()
for part in ${cores//,/ }; do
    for ((core = \${part%-*}; core <= \${part#*-}; core++)); do cores+=(\$core); done
done
exec taskset -c "\${cores[PMI_RANK % \${#cores[@]}]}" "\$@"
END
    )"
    chmod +x "$folder/rank"
}

# Signals, and the end of this shell, end the command; its other processes end with the namespaces.
beside() { # command
    local child
    export SCALEBENCH_NETNS=$id SCALEBENCH_HOSTS=$folder/hosts SCALEBENCH_LAUNCHER=$self
    export SCALEBENCH_HEAD=br0 SCALEBENCH_NIC=eth0 SCALEBENCH_LINK="$rate delay $delay"
    setpriv --pdeathsig TERM nsenter --net="/run/netns/$id-head" "$@" &
    child=$!
    # shellcheck disable=SC2064 # this child
    trap "kill -TERM $child 2>/dev/null" INT TERM
    end_of "$child"
    exit
}

find_mpiexec() {
    mpiexec=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec || true)}
    [ -n "$mpiexec" ] || unavailable "no MPI launcher: MPIEXEC is not set, and mpiexec is not on PATH"
}

[ "$mode" != enter ] || enter "$@"
become_root
case $mode in
probe) probe ;;
sweep) sweep ;;
hold)
    trap '' INT TERM HUP PIPE
    up
    hold
    ;;
exec)
    up
    beside "$@"
    ;;
run)
    find_mpiexec
    up
    on_own_core
    beside "$mpiexec" -rmk user -f "$folder/hosts" -iface br0 -launcher ssh -launcher-exec "$self" \
        -n "$hosts" "$folder/rank" "$@"
    ;;
esac
