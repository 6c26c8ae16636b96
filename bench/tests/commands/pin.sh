#!/usr/bin/env bash
# Tests how pin binds ranks by a plan of its own node, when they are started on machines other than the runner's.
# cores: 1
set -u
. bench/tests/lib/tap.sh

# Set the variables by which launchers number the ranks of a node.
by_hydra() { # rank, ranks, options of pin and program
    MPI_LOCALRANKID=$1 MPI_LOCALNRANKS=$2 "$build/pin" "${@:3}"
}

by_slurm() { # rank, ranks of the nodes, options of pin and program
    SLURM_LOCALID=$1 SLURM_NODEID=1 SLURM_STEP_TASKS_PER_NODE=$2 "$build/pin" "${@:3}"
}

processors() { # command
    # shellcheck disable=SC2016 # expands in the other shell
    "$@" sh -c 'taskset -cp $$' | sed 's/.*: //'
}

# The runner plans in the same way for this machine; its plan shows pin --cpus 0|1 ...
cat >"$tmp/two.yaml" <<'END'
name: two
site: local
model: softmax_784
data: {set: digits}
train: {global_batch: 64}
ranks: 2
place: {oversubscribe: allow}
END
planned=$("$scalebench" plan "$tmp/two.yaml" --commands | sed -n "s/.*pin --cpus '\([^']*\)'.*/\1/p")

binds_as_the_runner_would() { # launcher, ranks as it says them
    local rank got=()
    for rank in 0 1; do got+=("$(processors "$1" "$rank" "$2" --plan 1,core,compact,allow --)"); done
    echo "planned $planned, got ${got[*]}"
    [ -n "$planned" ] && [ "${got[0]}|${got[1]}" = "$planned" ]
}

# A rank without binding keeps all its processors.
leaves_alone() {
    [ "$(processors by_hydra 0 1 --plan 1,none,compact,allow --)" = "$(processors env)" ]
}

refuses_more_than_there_is() {
    local many=$(($(nproc) + 1))
    expect 3 "pin: $many ranks x 1 thread need $many cores, this job may use" \
        by_hydra 0 "$many" --plan 1,core,compact,refuse -- true
}

says_what_is_wrong() {
    expect 2 "pin: --plan: expected THREADS,BIND,ORDER,OVERSUBSCRIBE, such as 1,core,compact,refuse, found 'core'" by_hydra 0 1 --plan core -- true &&
        expect 2 "refuse, found '1,cores,compact,refuse'" by_hydra 0 1 --plan 1,cores,compact,refuse -- true &&
        expect 2 "pin: MPI_LOCALRANKID must be a rank (a whole number from 0), found 'first'" by_hydra first 1 --plan 1,core,compact,allow -- true &&
        expect 2 "node-local rank is 2 (from 0), but the launcher reports only 2 ranks" by_hydra 2 2 --plan 1,core,compact,allow -- true &&
        expect 2 "node-local rank is 0 (from 0), but the launcher reports only 0 ranks" by_slurm 0 "4" --plan 1,core,compact,allow -- true &&
        expect 2 "expected a rank in MPI_LOCALRANKID" env -u PMI_RANK "$build/pin" --plan 1,core,compact,allow -- true &&
        expect 2 "pin: --cpus and --plan both" by_hydra 0 1 --cpus 0 --plan 1,core,compact,allow -- true &&
        expect 2 "no effect without --sample" by_hydra 0 1 --cpus 0 --sample-to "$tmp" -- true &&
        expect 2 "no effect without --sample" by_hydra 0 1 --cpus 0 --nic lo -- true &&
        expect 2 "--leftovers-since starts nothing" by_hydra 0 1 --leftovers-since 3 -- true &&
        expect 2 "PROGRAM is missing" by_hydra 0 1 --plan 1,core,compact,allow &&
        expect 127 "cannot run $tmp/nowhere" by_hydra 0 1 --plan 1,core,compact,allow -- "$tmp/nowhere"
}

# Unused files of this user from the given time. That time is in the future, so that files of other tests are kept.
removes_what_ranks_left() {
    local old=/dev/shm/mpich_shar_tmp.old.$$ new=/dev/shm/ucx_shm_posix_.$$ held=/dev/shm/mpich_shar_tmp.held.$$ left
    exec 9>"$held"
    touch -d "1 hour ago" "$old" && touch -d "1 hour" "$new" "$held"
    "$build/pin" --leftovers-since $(($(date +%s) + 1800))
    left=$(ls "$old" "$new" "$held" 2>/dev/null)
    exec 9>&-
    rm -f "$old" "$new" "$held"
    [ "$left" = "$(printf '%s\n' "$old" "$held" | sort)" ] &&
        expect 2 "--leftovers-since must be seconds since 1970, found now" "$build/pin" --leftovers-since now
}

# Holders are invisible in another process namespace.
spares_what_others_hold() {
    local held=/dev/shm/mpich_shar_tmp.unseen.$$ status
    exec 9>"$held"
    touch -d "1 hour" "$held"
    unshare --pid --fork --mount-proc "$build/pin" --leftovers-since $(($(date +%s) + 1800)) 9>&-
    [ -e "$held" ]
    status=$?
    exec 9>&-
    unshare --pid --fork --mount-proc "$build/pin" --leftovers-since $(($(date +%s) + 1800))
    [ "$status" -eq 0 ] && [ ! -e "$held" ]
}

check "a plan binds as the runner's would, under hydra" binds_as_the_runner_would by_hydra 2
check "and under srun, by the ranks of its own node" binds_as_the_runner_would by_slurm "4,2(x3)"
check "bind none leaves ranks alone" leaves_alone
check "more ranks than cores are refused" refuses_more_than_there_is
check "pin reports wrong arguments" says_what_is_wrong
check "shared memory left by ranks is removed" removes_what_ranks_left
if unshare --pid --fork --mount-proc true 2>/dev/null; then
    check "shared memory of processes that pin cannot see is kept" spares_what_others_hold
else
    skip "shared memory of processes that pin cannot see is kept" "no process namespaces here"
fi
finish
