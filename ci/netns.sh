#!/usr/bin/env bash
# Hosts on one machine, each a network namespace with an interface of its own, joined by a bridge and
# shaped, so that what crosses the network costs what it would between real hosts:
#
#   ci/netns.sh [OPTION]... run PROGRAM [ARGUMENT]...    one rank on every host, on a core of its own
#   ci/netns.sh [OPTION]... exec COMMAND [ARGUMENT]...   the command once, beside the hosts: campaigns
#                                                        with site: emulated run on them
#
#   --hosts N     2 to 16; 2
#   --rate RATE   of every interface, as tc writes it (1gbit, 100mbit), or none; 1gbit
#   --delay TIME  added to every packet (0.1ms); none. Wants a kernel with netem
#   --help
#
# Whatever happens, hosts and their processes are gone afterwards. Several at once do not meet. Wants
# root, ip and tc (Debian's iproute2), unshare and MPICH. Exit status: the command's; 2 usage; 3 cannot
# be had here (why).
#
# Ranks on different hosts share no memory although they could: hosts have names of their own, by which
# MPICH tells nodes apart, and IPC namespaces of their own, by which UCX does. Ranks of one host share it.
set -u
PATH=$PATH:/usr/sbin:/sbin

hosts=2
rate=1gbit
delay=none
prefix=sb$$

usage() { # message
    echo "netns.sh: $1 (ci/netns.sh --help)" >&2
    exit 2
}

unavailable() {
    echo "netns.sh: $1" >&2
    exit 3
}

while [ $# -gt 0 ]; do
    case $1 in
    --help)
        sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --hosts | --rate | --delay)
        [ $# -gt 1 ] || usage "$1 wants a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    run | exec) break ;;
    -*) usage "unknown option $1" ;;
    *) usage "'$1' is neither run nor exec" ;;
    esac
done
[ $# -gt 1 ] || usage "what to run?"
[[ $hosts =~ ^([2-9]|1[0-6])$ ]] || usage "--hosts $hosts: 2 to 16"
[[ $rate =~ ^([0-9]+(\.[0-9]+)?[kmgt]?bit|none)$ ]] || usage "--rate $rate: 1gbit, 100mbit, ... or none"
[[ $delay =~ ^([0-9]+(\.[0-9]+)?(us|ms|s)|none)$ ]] || usage "--delay $delay: 100us, 0.1ms, ... or none"
mode=$1
shift

for program in ip tc unshare nsenter; do
    command -v "$program" >/dev/null ||
        unavailable "$program is missing (Debian's packages iproute2 and util-linux; make deps-ci)"
done
[ "$(id -u)" -eq 0 ] || unavailable "namespaces and traffic shaping want root"
mpiexec=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec || true)}
[ -n "$mpiexec" ] || unavailable "no MPI launcher: MPIEXEC is not set, mpiexec is not on PATH"

# --- Up and down ------------------------------------------------------------------------------------

folder=$(mktemp -d)
namespaces=()

# shellcheck disable=SC2317 # a trap calls it
take_down() {
    local ns pids
    for ns in "${namespaces[@]}"; do
        pids=$(ip netns pids "$ns" 2>/dev/null)
        # shellcheck disable=SC2086 # one word a process
        [ -z "$pids" ] || kill -KILL $pids 2>/dev/null
        ip netns del "$ns" 2>/dev/null
    done
    rm -rf "$folder"
}
trap take_down EXIT

add_namespace() { # name
    ip netns add "$1" 2>"$folder/error" ||
        unavailable "no network namespace can be made here: $(cat "$folder/error")"
    namespaces+=("$1")
    ip -n "$1" link set lo up
}

# A queue that sends at `rate`; the burst is what a core hands over in one go.
shape() { # namespace
    [ "$rate" = none ] || tc -n "$1" qdisc add dev eth0 root handle 1: tbf rate "$rate" \
        burst 256kb latency 10ms 2>"$folder/error" ||
        unavailable "this kernel cannot shape traffic (tbf): $(cat "$folder/error")"
    local parent=(root)
    [ "$rate" = none ] || parent=(parent 1:1)
    [ "$delay" = none ] || tc -n "$1" qdisc add dev eth0 "${parent[@]}" handle 10: netem \
        delay "$delay" 2>"$folder/error" ||
        unavailable "this kernel cannot delay packets (netem): leave --delay out"
}

head=$prefix-head
add_namespace "$head"
{ ip -n "$head" link add br0 type bridge && ip -n "$head" addr add 10.77.0.254/24 dev br0 &&
    ip -n "$head" link set br0 up; } 2>"$folder/error" ||
    unavailable "no bridge can be made here: $(cat "$folder/error")"
for ((i = 0; i < hosts; i++)); do
    ns=$prefix-node$i
    add_namespace "$ns"
    { ip link add eth0 netns "$ns" type veth peer name "veth$i" netns "$head" &&
        ip -n "$head" link set "veth$i" master br0 up &&
        ip -n "$ns" addr add "10.77.0.$((i + 1))/24" dev eth0 && ip -n "$ns" link set eth0 up; } \
        2>"$folder/error" || unavailable "no interface can be made here: $(cat "$folder/error")"
    shape "$ns"
    echo "node$i:1" >>"$folder/hosts"
done

# Instead of ssh. UCX looks for its interface in /sys, which only `ip netns exec` shows. What it is told
# holds for ranks on the hosts: local points of the same campaign share memory as elsewhere.
cat >"$folder/launcher" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
host=\$1
shift
export UCX_TLS=posix,sysv,cma,tcp,self UCX_NET_DEVICES=eth0
exec ip netns exec "$prefix-\$host" unshare --uts --ipc sh -c "hostname \$host; exec \$*" </dev/null
END
chmod +x "$folder/launcher"

export SCALEBENCH_HOSTS=$folder/hosts SCALEBENCH_LAUNCHER=$folder/launcher
export SCALEBENCH_HEAD=br0 SCALEBENCH_NIC=eth0 SCALEBENCH_LINK="$rate delay $delay"

# --- The command --------------------------------------------------------------------------------------

# Each rank on the next of the cores that this shell may use.
on_own_core() {
    local cores
    cores=$(taskset -cp $$ | sed 's/.*: //')
    cat >"$folder/rank" <<END
#!/usr/bin/env bash
cores=()
for part in ${cores//,/ }; do
    for ((core = \${part%-*}; core <= \${part#*-}; core++)); do cores+=(\$core); done
done
exec taskset -c "\${cores[PMI_RANK % \${#cores[@]}]}" "\$@"
END
    chmod +x "$folder/rank"
}

command=("$@")
if [ "$mode" = run ]; then
    on_own_core
    command=("$mpiexec" -rmk user -f "$folder/hosts" -iface br0 -launcher ssh
        -launcher-exec "$folder/launcher" -n "$hosts" "$folder/rank" "$@")
fi

# A signal ends the command; what it leaves behind ends with the namespaces.
nsenter --net="/run/netns/$head" "${command[@]}" &
child=$!
trap 'kill -TERM $child 2>/dev/null' INT TERM
wait "$child"
status=$?
while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    status=$?
done
exit "$status"
