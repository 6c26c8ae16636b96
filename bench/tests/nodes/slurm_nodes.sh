#!/usr/bin/env bash
# Tests a real Slurm of four nodes from ci/slurm.sh: campaigns over all nodes by sbatch and salloc, on some of them, beside a
# login node, and through events that take nodes or time from a job.
# tier: rest
# cores: 2
# seconds: 70
set -u
. bench/tests/lib/tap.sh

# --- Outside: starts the nodes and runs this script again beside them -----------------------------------

processes_end() {
    gone "$(cat "$1")" && [ ! -e "$(cat "$1")" ]
}

# Cleans up in any case, also after SIGKILL.
ends_with_its_script() {
    # shellcheck disable=SC2016 # expands in the other shell
    TMPDIR=$tmp ci/slurm.sh --nodes 2 run sh -c 'echo "${SLURM_CONF%/*}" >"$1"; sleep 300' - "$tmp/killed" &
    local killed=$!
    until_true test -s "$tmp/killed" || return 1
    kill -KILL "$killed" && gone "$(cat "$tmp/killed")"
}

if [ -z "${FOLDER_FILE:-}" ]; then
    inside "campaigns on the nodes of a Slurm job" slurm \
        env TMPDIR="$tmp" FOLDER_FILE="$tmp/folder" ci/slurm.sh --nodes 4 run "$0" || finish
    check "no process or file of the job is left" processes_end "$tmp/folder"
    check "nor of one that was killed" ends_with_its_script
    finish
fi
echo "${SLURM_CONF%/*}" >"$FOLDER_FILE"
unset FOLDER_FILE

# --- Specs and jobs -----------------------------------------------------------------------------------

. bench/tests/lib/slurm.sh
export SCALEBENCH_HOME=$PWD

write_spec small ", samples: 2000" "optimizer: adam, lr: 1e-3, global_batch: 96" <<'END'
scaling: strong
matrix: {ranks: auto, sync.strategy: [none, allreduce]}
exclude: ["ranks = 1 and sync.strategy = allreduce", "ranks > 1 and sync.strategy = none"]
baseline: {ranks: 1, sync.strategy: none}
measure:
  time: {warmup_steps: 2, steps: 5, launches: 1..1}
  accuracy: {seeds: []}
END

# Points of 1, 2, 3 and 4 ranks, one per node; each point uses the nodes of the previous one.
holds_all_nodes() { # folder of a run
    column status "$1/summary.csv" | sort -u | grep -x ok &&
        [ "$(column ranks "$1/summary.csv" | tr '\n' ' ')" = "1 2 3 4 " ] &&
        [ "$(column nodes "$1/raw.csv" | sort -u | tr '\n' ' ')" = "1 2 3 4 " ] &&
        [ "$(column node_list "$1/raw.csv" | sort -u)" = "$(printf 'n0\nn0 n1\nn0 n1 n2\nn0 n1 n2 n3')" ] &&
        [ "$(column site "$1/summary.csv" | sort -u)" = slurm ] &&
        [ "$(column flags "$1/summary.csv" | grep -cw shared_machine)" -eq 3 ] && # all except the point of one node
        ! column foreign_pct "$1/raw.csv" | grep -vE '^[0-9.e-]+$'                # as recorded by the ranks
}

uses_all_nodes() {
    expect 0 "starting ranks with hydra" job -N4 -- "$tmp/small.yaml" || return 1
    holds_all_nodes "$home/results/small/latest"
}

finds_the_nodes_of_a_shell() {
    (cd "$home" && expect 0 "results/shell/small/latest" salloc -N4 --exclusive \
        make bench CONFIG="$tmp/small.yaml" OUT=results/shell) || return 1
    holds_all_nodes "$home/results/shell/small/latest"
}

# --- How ranks start -----------------------------------------------------------------------------------

# Every launcher binds each rank to a core of its node.
starts_two_a_node() { # launcher
    expect 0 "results/$1/small/latest" job -N4 -- "$tmp/small.yaml" --out "results/$1" \
        --set "site.launcher=$1 matrix.ranks=[1,3] ranks_per_node=2 place.oversubscribe=allow" || return 1
    local run=$home/results/$1/small/latest
    [ "$(column node_list "$run/raw.csv" | sort -u)" = "$(printf 'n0\nn0 n1')" ] &&
        [ "$(column ranks_per_node "$run/raw.csv" | sort -u | tr '\n' ' ')" = "1 2 " ] &&
        [ "$(column bound "$run/raw.csv" | sort -u | tail -n 1)" = "$(bound_as_shared)" ]
}

# Ranks on n0, n0, n1: one core each; n0's ranks share a core if n0 has one.
bound_as_shared() {
    local cores
    mapfile -t cores < <(for node in n0 n1; do
        srun -N1 -n1 -w "$node" sh -c "taskset -cp \$\$" | sed 's/.*: //'
    done)
    echo "${cores[0]%%[,-]*}|${cores[0]##*[,-]}|${cores[1]%%[,-]*}"
}

# An srun without MPI, as many sites have by default.
refuses_many_jobs_of_one_rank() {
    mkdir "$tmp/other"
    cat >"$tmp/other/srun" <<END
#!/bin/bash
exec $(command -v srun) "\${@/#--mpi=*/--mpi=none}"
END
    chmod +x "$tmp/other/srun"
    PATH=$tmp/other:$PATH expect 3 "site.launcher = pmi2: started 2 jobs of 1 rank instead of 1 job of 2" \
        job -N2 -- "$tmp/small.yaml" --out results/many --set "site.launcher=pmi2" &&
        [ "$(grep -c '"event":"running"' "$home/results/many/small/latest/journal.jsonl")" -eq 0 ]
}

# Launchers that do not start two ranks are skipped.
finds_another_way() {
    (cd "$home" && expect 0 "starting ranks with pmi2" env MPIEXEC=/bin/false salloc -N2 \
        "$scalebench" run "$tmp/small.yaml" --out results/way --set "matrix.ranks=[1,2]")
}

# --- Where there is no job -----------------------------------------------------------------------------

stops_on_a_login_node() {
    local set="matrix.ranks=[3] nodes=3"
    expect 3 "Type: sbatch -N3 configs/sites/bench.sbatch $tmp/small.yaml --set \"$set\"" \
        "$scalebench" run "$tmp/small.yaml" --out "$tmp/none" --set "$set" || return 1
    [ ! -e "$tmp/none" ] && expect 0 "skipped: site: slurm needs a Slurm job with 3 nodes" \
        "$scalebench" plan "$tmp/small.yaml" --set "$set"
}

# --- submit ---------------------------------------------------------------------------------------------

# No job is left, not even between two states, and Slurm has answered.
no_jobs() {
    local states
    states=$(squeue -h -t all -o %T) && ! grep -qvE '^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)?$' <<<"$states"
}

cat >"$tmp/rig.yaml" <<'END'
time: 5
nodes: 4
cores: 1
sbatch: [--comment=rig]
setup: ["export FAKE_HOSTS=1"]
launcher: pmi2
END

# From here on the trainer takes no time, or hangs and ignores SIGTERM.
mkdir "$tmp/bin"
cp "$build/scalebench" "$build/pin" "$build/hello_ranks" "$tmp/bin"
cp bench/tests/lib/fake_trainer.sh "$tmp/bin/train_cnn"
write_spec fake "" "global_batch: 100" <<'END'
sync.strategy: allreduce
matrix: {ranks: auto}
measure: {time: {warmup_steps: 1, steps: 1, launches: 2..2}, accuracy: {seeds: []}}
END
# A restarted job keeps its environment, so files control whether ranks hang, or fail and leave MPI's files of its start.
cat >"$tmp/facts" <<END
if [ -e "$tmp/hang" ] && [ "\${strategy:-}" = allreduce ] && [ -n "\$dir" ]; then
    touch "\$dir/hangs.\$PMI_RANK"
    exec -a "\$dir" sleep 300
fi
if [ -e "$tmp/fail" ] && [ "\${strategy:-}" = allreduce ] && [ -n "\$dir" ]; then
    touch "/dev/shm/mpich_shar_tmp.\$PMI_RANK"
    ls /dev/shm >"$tmp/shared.\$(hostname)"
    exit 3
fi
END
latest=$home/results/fake/latest

use_fake_trainer() {
    export FAKE_HOSTS=1 FAKE_FACTS=$tmp/facts BUILD=$tmp/bin
}

submit() {
    (cd "$home" && "$tmp/bin/scalebench" submit "${campaign:-$tmp/fake.yaml}" --site "$tmp/rig.yaml" "$@")
}

# Checks for two launches of each point, none lost or repeated. The baseline has two with each other point and needs no job
# of its own.
is_complete() { # folder of a run
    [ "$(grep -c '"status":"ok"' "$1/journal.jsonl")" -eq 12 ] && grep '"event":"finished"' "$1/journal.jsonl" &&
        [ "$(column node_list "$1/raw.csv" | sort | uniq -c | tr -s ' \n' ' ')" = \
            " 6 n0 2 n0 n1 2 n0 n1 n2 2 n0 n1 n2 n3 " ]
}

prints_scripts() {
    expect 0 "#SBATCH --nodes=4" submit --dry-run || return 1
    bash -n "$tmp/expect.log" && [ ! -e "$home/results/fake" ] && no_jobs && grep -x "#SBATCH --comment=rig" \
        "$tmp/expect.log" && grep -x "#SBATCH --time=5" "$tmp/expect.log" && grep "launcher=pmi2" "$tmp/expect.log"
}

submits_what_is_missing() {
    expect 0 ": 4 nodes, results/fake/jobs/nodes-4.sbatch" submit --per-nodes || return 1
    [ "$(wc -l <"$tmp/expect.log")" -eq 3 ] && until_true no_jobs || return 1
    cat "$home"/scalebench-*.log
    is_complete "$latest" && expect 0 "nothing is missing: no job" submit || return 1
    sed -i 's/2\.\.2/3..3/; s/ranks: auto/ranks: [1, 2]/' "$tmp/fake.yaml"
    expect 0 ": 2 nodes, results/fake/jobs/nodes-2.sbatch" submit && until_true no_jobs || return 1
    [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq 14 ]
}

passes_on_the_words_of_sbatch() {
    cp "$tmp/rig.yaml" "$tmp/rig.kept"
    sed -i 's/^sbatch:.*/partition: nosuch/' "$tmp/rig.yaml"
    expect 3 "sbatch: error: invalid partition specified: nosuch" submit --set name=refused
    local status=$?
    mv "$tmp/rig.kept" "$tmp/rig.yaml"
    [ "$status" -eq 0 ] && grep "sbatch refused the job with exit status 1; the message of sbatch is above" "$tmp/expect.log" &&
        SLURM_CONF=/dev/null expect 3 "ClusterName needs to be specified" submit --set name=refused && no_jobs
}

# --- Loss of nodes and time -----------------------------------------------------------------------------

# The same campaign with other points, so that it is new each time.
mkdir "$tmp/two"
write_spec two/fake "" "global_batch: 100" <<'END'
ranks: 2
matrix: {sync.strategy: [none, allreduce]}
measure: {time: {warmup_steps: 1, steps: 1, launches: 2..2}, accuracy: {seeds: []}}
END

hanging() {
    compgen -G "$latest/launches/*/*/hangs.0" && compgen -G "$latest/launches/*/*/hangs.1"
}

# A campaign on two nodes whose allreduce hangs; sets $number.
start_hanging() {
    rm -rf "$home/results/fake"
    touch "$tmp/hang"
    number=$(cd "$home" && sbatch --parsable -N2 "$template" "$tmp/two/fake.yaml")
    until_true hanging && return
    cat "$home/scalebench-$number.log"
    return 1
}

has_ended_with() { # job, status
    scontrol show job "$1" | grep -w "ExitCode=$2:0"
}

# Slurm may report the reason only after its next round of scheduling.
waits_for_another() {
    [ "$(squeue -h -t PD -o %r)" = Dependency ]
}

# The first job holds two of the four nodes, so Slurm starts the second beside it.
names_the_line_that_queues() {
    start_hanging && rm "$tmp/hang" || return 1
    local first=$number line second
    second=$(cd "$home" && sbatch --parsable -N2 "$template" "$tmp/two/fake.yaml") &&
        until_true has_ended_with "$second" 3 || return 1
    grep "another scalebench is running this campaign: .* of job $first on n0 since" "${log/\%j/$second}" || return 1
    line=$(sed -n 's/.*submit behind it: sbatch \(.*\) \.\.\.$/\1/p' "${log/\%j/$second}")
    (cd "$home" && sbatch -N2 "$line" "$template" "$tmp/two/fake.yaml") && until_true waits_for_another &&
        scancel "$first" && until_true no_jobs && is_complete_after_all
}

# submit writes chained jobs with the programs of its own build; those of $home/build do not hang.
waits_its_turn() {
    local campaign=$tmp/two/fake.yaml BUILD=
    rm -rf "$home/results/fake"
    touch "$tmp/hang"
    expect 0 ": 2 nodes, " submit && until_true hanging && expect 0 ": 2 nodes, " submit || return 1
    rm "$tmp/hang"
    until_true waits_for_another && scancel -t R --me && until_true no_jobs && is_complete_after_all
}

# Each of the four launches succeeded once. Only the hanging launch failed, and one more if its end was seen.
is_complete_after_all() {
    cat "$home"/scalebench-*.log "$latest/journal.jsonl"
    gone "$home/results/fake" && [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq 4 ] &&
        [ "$(grep -c '"event":"running"' "$latest/journal.jsonl")" -le 6 ] &&
        grep '"event":"finished"' "$latest/journal.jsonl" &&
        [ "$(paste -d' ' <(column status "$latest/raw.csv") <(column label "$latest/raw.csv") | grep '^ok' |
            sort | uniq -c | tr -s ' \n' ' ')" = " 2 ok allreduce 2 ok none " ]
}

# Also for launches on nodes without a runner.
shared_memory_is_given_back() {
    local node status
    rm -rf "$home/results/fake"
    touch "$tmp/fail"
    expect 1 "1 of 2 points failed" job -N2 -- "$tmp/two/fake.yaml"
    status=$?
    rm "$tmp/fail"
    [ "$status" -eq 0 ] || return 1
    for node in n0 n1; do
        grep "^mpich_shar_tmp" "$tmp/shared.$node" || return 1
        ! nsenter --target "$(cat "${SLURM_CONF%/*}/slurmd-$node.pid")" --mount ls /dev/shm | grep "^mpich" || return 1
    done
}

runs_in_an_array() {
    rm -rf "$home/results/fake"
    (cd "$home" && sbatch -W -N2 --array=0-1%1 "$template" "$tmp/two/fake.yaml") || return 1
    cat "$latest/journal.jsonl"
    [ "$(grep -c '"event":"running"' "$latest/journal.jsonl")" -eq 4 ] &&
        [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq 4 ]
}

is_pending() {
    [ "$(squeue -h -j "$number" -o %t)" = PD ]
}

# Slurm delays a restarted job for two minutes, and rejects it on nodes that ran it in the second of its removal.
ends_by_itself() {
    until_true is_pending && scontrol update "jobid=$number" StartTime=now+2 && until_true no_jobs
}

# Tests that later launches succeeded on other nodes than the lost one.
went_on_without() { # node
    column node_list "$latest/raw.csv" | grep n | grep -vw "$1"
}

begins_again_elsewhere() {
    start_hanging && rm "$tmp/hang" || return 1
    scontrol update nodename=n0 state=drain reason=test && scontrol requeue "$number" &&
        ends_by_itself || return 1
    scontrol update nodename=n0 state=resume
    is_complete_after_all && went_on_without n0
}

survives_its_time_limit() {
    start_hanging && rm "$tmp/hang" && scontrol update "jobid=$number" EndTime=now+90 && until_true no_jobs &&
        job -N2 -- "$tmp/two/fake.yaml" && is_complete_after_all
}

# Slurm reports no such job when a launch has failed. The point has not failed: the launch is retried later.
ends_with_its_job() {
    local status
    rm -rf "$home/results/fake"
    touch "$tmp/fail"
    mkdir "$tmp/ended"
    printf '#!/bin/sh\n' >"$tmp/ended/squeue"
    chmod +x "$tmp/ended/squeue"
    PATH=$tmp/ended:$PATH expect 3 "the job of this campaign has ended, so its nodes are no longer available. Run the same command" \
        job -N2 -- "$tmp/two/fake.yaml"
    status=$?
    rm "$tmp/fail"
    [ "$status" -eq 0 ] && ! grep '"status":"failed"' "$latest/journal.jsonl" && job -N2 -- "$tmp/two/fake.yaml" &&
        is_complete_after_all
}

# A node that looks to Slurm and the other nodes as if its power were cut.
survives_a_lost_node() {
    start_hanging && rm "$tmp/hang" || return 1
    # shellcheck disable=SC2046 # one word a process
    kill -KILL $(ip netns pids n1)
    scontrol update nodename=n1 state=down reason=lost && ends_by_itself || return 1
    is_complete_after_all && went_on_without n1
}

fits_the_link_between_nodes() {
    (cd "$home" && expect 0 "quick form, no result" salloc -N2 --exclusive \
        "$scalebench" run "$SCALEBENCH_HOME/configs/reports/past/links_slurm.yaml" --out results/links --set form=quick) || return 1
    [ "$(grep -c "^slurm_vm,pace_" "$home/results/links/past_links_slurm_quick/latest/link.csv")" -eq 7 ]
}

check "sbatch -N4 uses four nodes" uses_all_nodes
check "the link between nodes is fitted" fits_the_link_between_nodes
check "so does make bench in a shell of salloc" finds_the_nodes_of_a_shell
check "two ranks a node, by hydra" starts_two_a_node hydra
check "by srun" starts_two_a_node pmi2
check "ranks that come up alone are refused" refuses_many_jobs_of_one_rank
check "another way is found where one does not work" finds_another_way
check "a login node stops with the line to type" stops_on_a_login_node
use_fake_trainer
check "submit --dry-run prints a script" prints_scripts
check "submit runs only missing points" submits_what_is_missing
check "submit prints the message of an sbatch that refuses a job" passes_on_the_words_of_sbatch
check "shared memory of ranks that fail is given back on every node" shared_memory_is_given_back
check "the second job of an array has nothing left" runs_in_an_array
check "a second job of a campaign names the line that queues it" names_the_line_that_queues
check "a second job of submit waits its turn" waits_its_turn
check "a requeued job resumes on other nodes" begins_again_elsewhere
check "a job that ran out of time resumes" survives_its_time_limit
check "so does one that has lost a node" survives_a_lost_node
check "a campaign ends with its job and resumes in another" ends_with_its_job
finish
