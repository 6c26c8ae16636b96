#!/usr/bin/env bash
# Kills a part of a campaign at a random moment, on emulated hosts and on the nodes of a Slurm job. Nothing of the campaign
# may be left, nothing of others is touched, and the same command completes it without losing or repeating launches.
#
# Three kills on each site; FAULTS=all: thirty, which takes twenty minutes on two cores. KILLS_SEED=N repeats the choices of
# the run that printed N, KILLS_SITE=emulated or slurm those of one site.
# tier: rest
# cores: 2
# seconds: 75
set -u
. bench/tests/lib/tap.sh

# --- Outside: one part per site, in namespaces in which everything can be listed ------------------------

in_namespaces() { # command
    local all=(--pid --fork --kill-child --mount --mount-proc --net --uts --ipc)
    unshare "${all[@]}" true || return 3
    setpriv --pdeathsig KILL unshare "${all[@]}" "$@"
}

if [ -z "${KILLS_INSIDE:-}" ]; then
    export KILLS_SEED=${KILLS_SEED:-$SRANDOM} TMPDIR=$tmp
    echo "# KILLS_SEED=$KILLS_SEED"
    for site in ${KILLS_SITE:-emulated slurm}; do
        export KILLS_INSIDE=$site
        case $site in
        emulated) inside "kills on emulated hosts" netns in_namespaces "$0" ;;
        slurm) inside "kills on the nodes of a Slurm job" slurm ci/slurm.sh --nodes 4 run "$0" ;;
        esac
    done
    finish
fi

# --- Inside: the machine --------------------------------------------------------------------------------

site=$KILLS_INSIDE
unset KILLS_INSIDE
. bench/tests/lib/slurm.sh
export SCALEBENCH_HOME=$PWD BUILD=$build
mkdir "$tmp/temporary" "$tmp/foreign"
export TMPDIR=$tmp/temporary
if [ "$site" = emulated ]; then
    # ci/slurm.sh made them for the other site.
    PATH=$PATH:/usr/sbin:/sbin
    { mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && mount -t tmpfs -o mode=1777 tmpfs /dev/shm &&
        ip link set lo up && ci/netns.sh probe; } >&2 || exit 3
fi
RANDOM=$KILLS_SEED

# Nodes have their own interfaces and memory in the namespaces of their daemons.
daemons() {
    [ "$site" = emulated ] || cat "${SLURM_CONF%/*}"/slurmd-n*.pid
}

# Lists interfaces and shared memory of both kinds.
# shellcheck disable=SC2016 # expands in the shells that run it
of_a_node='ip -o link | sed "s/: <.*//"; ls -A /dev/shm; awk "NR > 1 { print \"sysv\", \$2 }" /proc/sysvipc/shm'

# Prints everything, one line each, processes with their start time, without this shell.
look() {
    local path stat daemon
    for path in /proc/[0-9]*; do
        read -r stat 2>/dev/null <"$path/stat" || continue
        [ "${path#/proc/}" != "$BASHPID" ] || continue
        # shellcheck disable=SC2086 # one word a field
        set -- ${stat##*) }
        [[ $1 == [ZX] ]] || echo "process ${path#/proc/} $(<"$path/comm") since ${20}" 2>/dev/null
    done
    ls -A /run/netns "$TMPDIR"
    compgen -G "/tmp/mpich*"
    compgen -G "/tmp/ucx*"
    compgen -G "/tmp/sb*t*n$(readlink /proc/self/ns/pid | tr -dc 0-9)"
    sh -c "$of_a_node"
    for daemon in $(daemons); do
        nsenter --target "$daemon" --mount --net --ipc sh -c "echo node; $of_a_node"
    done
}

differs_from() { # earlier list
    look >"$tmp/now"
    ! diff "$1" "$tmp/now"
}

# Waits while the list changes, for busy machines; an unchanging difference fails.
is_again() { # earlier list
    local i
    for ((i = 0; i < 150; i++)); do
        differs_from "$1" >"$tmp/difference" || return 0
        sleep 0.2
    done
    echo "30 s later there is less (<) or more (>) than before:"
    cat "$tmp/difference"
    return 1
}

# Makes things of others that look like a campaign's: processes, one of which writes to shared memory, older shared memory,
# namespaces, a bridge, a pair of interfaces.
plant() {
    local name
    mkfifo "$tmp/never" && exec 8<>"$tmp/never" || return
    for name in scalebench train_cnn hydra_pmi_proxy srun netns.sh; do
        cp "$BASH" "$tmp/foreign/$name" || return
        "$tmp/foreign/$name" -c 'read -r _' "--record=$tmp/foreign" <&8 9>/dev/shm/mpich_shar_tmpforeign &
    done
    echo old >/dev/shm/ucx_shm_posix_foreign && ipcmk -M 4096 && ip netns add foreign &&
        ip netns add sb1t1n1-node0 && ip link add br0 type bridge && ip link add veth90 type veth peer name veth91
}

is_seen() {
    look >"$tmp/empty"
    plant || return
    sleep 1 # files that are written from now on are newer
    differs_from "$tmp/empty" >"$tmp/planted"
    cat "$tmp/planted"
    [ "$(grep -c '^> ' "$tmp/planted")" -eq 13 ] && [ "$(grep -c '^< ' "$tmp/planted")" -eq 0 ]
}

# --- Campaigns ------------------------------------------------------------------------------------------

n=3 each=1 # kills; launches of each of two points
[ "${FAULTS:-some}" != all ] || n=30 each=2
write_spec killed ", samples: 2000" "global_batch: 64" <<END
matrix: {nodes: [2, 4]}
ranks_per_node: 2
sync.strategy: ring
place.oversubscribe: allow
measure: {limit: 60s, time: {warmup_steps: 2, steps: 100, launches: $each..$each}, accuracy: {seeds: []}}
END

# Opens a shell of salloc in which campaigns start again and again, so that Slurm ends none of their processes, and a step of
# someone else. It lasts until its input closes.
take_nodes() {
    # shellcheck disable=SC2016 # expands in the other shell
    coproc NODES { cd "$home" && exec salloc -N4 --exclusive sh -c \
        'env | grep ^SLURM_ >"$1.new" && mv "$1.new" "$1" && exec cat' - "$tmp/variables" 2>"$tmp/salloc.log"; }
    # shellcheck disable=SC2153 # of coproc
    nodes_pid=$NODES_PID nodes_line=${NODES[1]}
    until_true test -s "$tmp/variables" || return
    mapfile -t variables <"$tmp/variables"
    env "${variables[@]}" srun --overlap -N1 -n1 --job-name=foreign sleep 100000 </dev/null &
    until_true pgrep -x sleep
}

are_idle() {
    [ "$(sinfo -h -o "%t %D")" = "idle 4" ]
}

give_nodes_back() {
    [ -n "${nodes_pid:-}" ] || return 0
    exec {nodes_line}>&-
    wait "$nodes_pid"
    nodes_pid=
    rm "$tmp/variables"
    until_true are_idle || { sinfo -N -o "%N is %t: %E"; return 1; }
}

# Prints the command for this turn's site.
go() {
    local options=("$tmp/killed.yaml" --out "$folder" --set "site=$site $more")
    case $way in
    here) "$scalebench" run "${options[@]}" ;;
    shell) env "${variables[@]}" "$scalebench" run "${options[@]}" ;;
    job) job -N4 -- "${options[@]}" ;;
    esac
}

# Checks that each launch exists once, that only the killed one failed, and that none reached the time limit.
is_complete() {
    local journal=$folder/killed/latest/journal.jsonl
    cat "$journal"
    awk -v launches=$((2 * each)) '
        function value(key) {
            match($0, "\"" key "\":\"?[^\",}]*")
            return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
        }
        /"event":"running"/ { place[value("launch")] = value("point") " " value("block"); begun++ }
        /"event":"done"/ && /"status":"ok"/ { filled[place[value("launch")]]++ }
        /"status":"timeout"/ { stayed = 1 }
        /"event":"finished"/ { finished = 1 }
        END {
            for (p in filled) { n++; twice += filled[p] > 1 }
            exit !finished || twice || stayed || n != launches || begun > launches + 1
        }' "$journal" || return
    [ "$(column status "$folder/killed/latest/raw.csv" | grep -cx ok)" -eq $((2 * each)) ]
}

in_microseconds() {
    echo "${EPOCHREALTIME//[.,]/}"
}

# Looks until two looks are equal, without processes of daemons that are about to end.
look_before() {
    look >"$tmp/before"
    for _ in {1..50}; do
        sleep 0.2
        differs_from "$tmp/before" >/dev/null || return 0
        mv "$tmp/now" "$tmp/before"
    done
}

# Measures the duration of an undisturbed campaign in microseconds.
nobody_kills() { # way
    local begin
    way=$1 folder=$tmp/out/$1 more=
    look_before
    begin=$(in_microseconds)
    go || return
    lasts[$way]=$(($(in_microseconds) - begin))
    echo "${lasts[$way]} us"
    is_complete && is_again "$tmp/before"
}

# --- Kills ----------------------------------------------------------------------------------------------

# Prints new processes of a campaign: originals, or copies of their parent (a runner's guard, a rank's crash reporter).
processes_of() { # original or copy, what pgrep takes
    local pid parent kind
    for pid in $(pgrep "${@:2}"); do
        ! grep -q "^process $pid " "$tmp/before" || continue
        parent=$(ps -o ppid= -p "$pid") || continue
        kind=original
        ! cmp -s "/proc/$pid/comm" "/proc/${parent// /}/comm" || kind=copy
        [ "$kind" != "$1" ] || echo "$pid"
    done
}

# Prints possible victims of a kind, one per line.
victims() { # kind
    local guard
    case $1 in
    runner) processes_of original -x scalebench ;;
    guard) processes_of copy -x scalebench ;;
    launcher) for guard in $(victims guard); do pgrep -P "$guard"; done ;;
    proxy) processes_of original -x hydra_pmi_proxy ;;
    rank) processes_of original -x train_cnn ;;
    srun) processes_of original -x srun ;;
    hosts) processes_of original -f 'netns\.sh .* hold$' ;;
    "runner and "*) paste -d' ' <(victims runner) <(victims "${1#runner and }" | head -n 1) | grep ' .' ;;
    esac
}

no_runner() {
    [ -z "$(victims runner)" ]
}

# Kills at the moment, or as soon afterwards as a victim exists; false if the campaign ends before.
kill_one() {
    local found one
    sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
    while kill -0 "$campaign" 2>/dev/null; do
        mapfile -t found < <(victims "$what")
        if [ "${#found[@]}" -gt 0 ]; then
            read -ra one <<<"${found[chance % ${#found[@]}]}"
            ps -o pid,args -p "${one[*]}" | cut -c 1-200
            kill "-$signal" "${one[@]}" 2>/dev/null && return
        fi
        sleep 0.02
    done
    return 1
}

# Repeats a campaign that ended before its kill, with half of the delay. Background jobs without job control ignore
# interrupts.
start_and_kill() { # number
    local tries
    for ((tries = 0; tries < 20; tries++)); do
        folder=$tmp/out/$1.$tries
        set -m
        go >"$tmp/campaign.log" 2>&1 &
        campaign=$!
        set +m
        kill_one && return
        wait "$campaign"
        cat "$tmp/campaign.log"
        moment=$((moment / 2))
    done
    echo "never there: $what"
    return 1
}

# If the guard is killed with its runner, as Slurm does when a job's script ends, leftovers may stay until the next start.
cleans_up_at_once() {
    [[ $what != "runner and "* && "$way $what $signal" != "job runner KILL" ]]
}

# A living runner continues, unless the killed process was its test of launchers.
survives() { # number
    local status
    touch /dev/shm/mpich_shar_tmpforeign
    look_before
    start_and_kill "$1" || return
    wait "$campaign"
    status=$?
    until_true no_runner # the srun that put it on its node may be gone
    cat "$tmp/campaign.log"
    echo "exit status $status"
    ! cleans_up_at_once || is_again "$tmp/before" || return
    go || return
    is_complete && is_again "$tmp/before"
}

# Kinds of victims, with SIGKILL unless another signal is named; each occurs once before any is repeated.
declare -A lasts kinds=(
    [emulated]="hosts runner_and_hosts"
    [slurm]="srun"
)
read -ra kinds_here <<<"runner.INT runner.TERM runner guard runner_and_guard launcher proxy rank ${kinds[$site]}"
kinds_left=()

# Chooses site and victim; sets the name of the test.
draw() {
    local kind at ways=(job shell shell) launchers=(hydra pmi2)
    [ "${#kinds_left[@]}" -gt 0 ] || kinds_left=("${kinds_here[@]}")
    at=$((RANDOM % ${#kinds_left[@]})) kind=${kinds_left[at]}
    unset "kinds_left[at]"
    kinds_left=("${kinds_left[@]}")
    what=${kind%.*} signal=KILL chance=$RANDOM way=here more=''
    what=${what//_/ }
    [[ $kind != *.* ]] || signal=${kind#*.}
    if [ "$site" = slurm ]; then
        way=${ways[RANDOM % 3]} more=site.launcher=${launchers[RANDOM % 2]}
        [ "$what" != proxy ] || more=site.launcher=hydra # the other has none
    fi
    moment=$((lasts[$way] * (RANDOM % 1000) / 1000))
}

check "$site: the test sees processes and files of others" is_seen
if [ "$site" = slurm ]; then
    check "slurm: nodes can be had" take_nodes
    check "slurm: a campaign that nobody kills leaves nothing" nobody_kills shell
    lasts[job]=$((${lasts[shell]:-10000000} + 3000000)) # until Slurm starts it
else
    check "emulated: a campaign that nobody kills leaves nothing" nobody_kills here
fi
for ((i = 1; i <= n; i++)); do
    draw
    case $way in
    job) give_nodes_back >"$tmp/nodes.log" 2>&1 || sed 's/^/# /' "$tmp/nodes.log" ;;
    shell) [ -n "${nodes_pid:-}" ] || take_nodes >"$tmp/nodes.log" 2>&1 ;;
    esac
    check "$site, kill $i of $n: SIG$signal to $what at $((moment / 1000)) ms, ${more:-by hydra}, $way" survives "$i"
done
finish # nodes and their jobs end with the script
