#!/usr/bin/env bash
# Tests the sbatch template in a real Slurm from ci/slurm.sh: a campaign as a job, bound to the cores of its allocation,
# cancelled, out of time, resumed.
# tier: rest
# cores: 0
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/slurm.sh

cluster=$tmp/slurm
trap '[ ! -e "$cluster/slurm.conf" ] || ci/slurm.sh stop "$cluster"; rm -rf "$tmp"' EXIT
out=$tmp/results

check_or_skip() {
    ci/slurm.sh start "$cluster" >"$tmp/start.log" 2>&1
    case $? in
    0) check "Slurm starts" cat "$tmp/start.log" ;;
    3)
        cat "$tmp/start.log"
        lacks "campaigns as Slurm jobs" slurm
        finish
        ;;
    *) return 1 ;;
    esac
}

write_spec small ", samples: 2000" "optimizer: adam, lr: 1e-3, global_batch: 100" <<'END'
scaling: strong
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 5, steps: 20, launches: 2..2}
  accuracy: {seeds: [1]}
END

ends_as_a_local_run_does() {
    local here=$tmp/local/small/latest there=$home/results/small/latest
    "$scalebench" run "$tmp/small.yaml" --out "$tmp/local" || return 1
    expect 0 "results/small/latest" job -- "$tmp/small.yaml" || return 1
    [ "$(head -n 1 "$here/summary.csv")" = "$(head -n 1 "$there/summary.csv")" ] &&
        [ "$(head -n 1 "$here/raw.csv")" = "$(head -n 1 "$there/raw.csv")" ] &&
        [ "$(column status "$there/summary.csv")" = "$(printf 'ok\nok')" ] &&
        [ "$(column ranks "$there/summary.csv")" = "$(printf '1\n2')" ]
}

# Prints Slurm's text about a job for an option of sbatch; "elsewhere" if another test covers the option. Options that are
# missing here have no test.
shown() { # option, value
    case $1 in
    --time) echo "TimeLimit=$2" ;;
    --job-name) echo "JobName=$2" ;;
    --output) echo "StdOut=$home/${2/\%j/$number}" ;;
    --nodes) echo "NumNodes=$2" ;;
    --ntasks) echo "NumTasks=$2" ;;
    --exclusive) echo "OverSubscribe=NO" ;;
    --requeue) echo "Requeue=1" ;;
    --signal | --open-mode) echo elsewhere ;;
    esac
}

# Checks the job above, which was submitted as a user does.
is_the_job_of_its_lines() {
    local option value want crowded=0 n=0
    scontrol show job "$number" | tr -s ' \n' '\n' >"$tmp/job"
    while IFS='= ' read -r option value; do
        want=$(shown "$option" "$value")
        echo "$option $value: ${want:-nothing known to look at}"
        [ "$want" = elsewhere ] || grep -xF -- "${want:-nothing}" "$tmp/job" || return 1
        n=$((n + 1))
    done < <(sed -n 's/^#SBATCH //p' "$template")
    [ "$n" -gt 0 ] && [ "$n" -eq "$(grep -c '^#SBATCH' "$template")" ] || return 1
    [ "$(nproc)" -ge 2 ] || crowded=1
    grep -xF "NumCPUs=$(nproc)" "$tmp/job" &&
        grep -F "\"slurm_cpus\": $(nproc)," "$home/results/small/latest/manifest.json" &&
        [ "$(column oversubscribed "$home/results/small/latest/summary.csv" | tail -n 1)" = "$crowded" ]
}

# Follows a comment of the template: without one line, -c sets the cores. Here the mask stays the whole node.
stays_inside_its_cores() {
    sed 's/^#SBATCH --exclusive/#&/' "$template" >"$tmp/shared.sbatch"
    script=$tmp/shared.sbatch expect 0 "ranks=2: skipped: 2 ranks x 1 thread need 2 cores, this job may use 1" \
        job -c 1 -- "$tmp/small.yaml" --out "$out" \
        --set "place.oversubscribe=refuse" || return 1
    grep -q '"usable_cores": 1,' "$out/small/latest/manifest.json"
}

# From here on the trainer takes no time, or hangs and ignores SIGTERM.
mkdir "$tmp/bin"
cp "$build/scalebench" "$build/pin" "$tmp/bin"
cp bench/tests/lib/fake_trainer.sh "$tmp/bin/train_cnn"
write_spec fake "" "global_batch: 100" <<'END'
ranks: 2
matrix:
  sync.strategy: [none, allreduce]
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 1, steps: 1, launches: 2..2}}
END
latest=$out/fake/latest

fake_job() {
    SCALEBENCH_HOME=$PWD BUILD=$tmp/bin job -- "$tmp/fake.yaml" --out "$out"
}

hanging() {
    compgen -G "$latest/launches/*/*/hangs.0" && compgen -G "$latest/launches/*/*/hangs.1"
}

# Starts a campaign whose allreduce hangs; sets $number when both its ranks do.
start_hanging() {
    rm -rf "$out/fake"
    FAKE_HANG=allreduce fake_job >"$tmp/hanging.log" 2>&1 &
    waiting=$!
    until_true hanging || {
        cat "$tmp/hanging.log"
        return 1
    }
    number=$(squeue -h -o %A)
    log_of_hanging=${log/\%j/$number}
}

no_jobs() {
    [ -z "$(squeue -h)" ]
}

# Checks that the job ended in order: the runner has reported it, nothing runs, and the journal is complete. sbatch may end
# before the job.
is_resumable() {
    wait "$waiting"
    until_true no_jobs || return 1
    cat "$log_of_hanging"
    grep "interrupted; run the same command again to resume" "$log_of_hanging" || return 1
    gone "$out" || return 1
    grep -q '"event":"running"' "$latest/journal.jsonl" &&
        ! grep -q '"event":"finished"' "$latest/journal.jsonl"
}

completes_later() {
    local before
    before=$(grep '"event":"done"' "$latest/journal.jsonl")
    expect 0 "resuming" fake_job || return 1
    [ "$(find "$out/fake" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 1 ] || return 1
    [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq 4 ] || return 1
    grep -qF "$before" "$latest/journal.jsonl" && grep -q '"event":"finished"' "$latest/journal.jsonl"
}

survives_scancel() {
    start_hanging && scancel "$number" && is_resumable && completes_later
}

# The template's signal comes a minute before the end, or up to half a minute earlier, and never to a starting job. So the
# time limit is lowered when the ranks hang. The job must end before its limit.
survives_its_time_limit() {
    start_hanging && scontrol update "jobid=$number" EndTime=now+90 && is_resumable &&
        scontrol show job "$number" | grep -E "JobState=(COMPLETED|FAILED)" && completes_later
}

# Slurm delays a restarted job for two minutes, counted from the end of its processes.
hangs_without_waiting() {
    scontrol update "jobid=$number" StartTime=now
    hanging
}

# The same job starts again, as after a failure of its node.
begins_again() {
    start_hanging || return 1
    rm -f "$latest"/launches/*/*/hangs.*
    scontrol requeue "$number" && until_true hangs_without_waiting || return 1
    grep "DUE TO JOB REQUEUE" "$log_of_hanging" && grep "resuming" "$log_of_hanging" &&
        scancel "$number" && is_resumable && completes_later
}

# srun has no MPI plugin by default: both ranks would run alone.
srun_starts_one_run() {
    local options=(--model lenet_21k --data.set digits --data.samples 200 --train.epochs 1)
    expect 2 "srun --mpi=pmi2 -n 2 $train_cnn ..., or" \
        srun -n2 --overcommit "$train_cnn" "${options[@]}" || return 1
    [ "$(grep -c "but MPI has 1 rank" "$tmp/expect.log")" -eq 1 ] &&
        ! grep "epoch" "$tmp/expect.log" || return 1
    expect 2 "srun --mpi=pmi2 -n 2 $build/comm_sweep" srun -n2 --overcommit "$build/comm_sweep" --gradients 4B ||
        return 1
    expect 0 "weights equal on all ranks" \
        srun --mpi=pmi2 -n2 --overcommit "$train_cnn" "${options[@]}"
}

leaves_nothing() {
    ci/slurm.sh stop "$cluster" && gone "$cluster"
}

# The inner one names the outer one's folder and its own.
starts_again_beside_another() {
    # shellcheck disable=SC2016 # expands in the other shell
    expect 0 "n0" ci/slurm.sh run sh -c \
        'echo "outer ${SLURM_CONF%/*}"; ci/slurm.sh run sh -c "echo inner \${SLURM_CONF%/*}; sinfo -h -o %N"' ||
        return 1
    sed -n 's/^outer //p; s/^inner //p' "$tmp/expect.log" | sort -u >"$tmp/folders"
    local folder
    while read -r folder; do
        [ ! -e "$folder" ] && gone "$folder" || return 1
    done <"$tmp/folders"
    [ "$(wc -l <"$tmp/folders")" -eq 2 ]
}

check_or_skip || {
    check "Slurm starts" sh -c "cat '$tmp/start.log'; exit 1"
    finish
}
export SLURM_CONF=$cluster/slurm.conf
check "a job ends as a local run does" ends_as_a_local_run_does
check "the job has the properties in the template" is_the_job_of_its_lines
check "ranks stay inside the job's cores" stays_inside_its_cores
check "scancel leaves no process and a campaign that can resume" survives_scancel
check "so does the time limit" survives_its_time_limit
check "a job requeued by Slurm resumes" begins_again
check "srun without MPI is refused, with MPI it starts one run" srun_starts_one_run
check "stopping leaves no process" leaves_nothing
check "two at once do not meet" starts_again_beside_another
finish
