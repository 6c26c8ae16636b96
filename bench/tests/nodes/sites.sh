#!/usr/bin/env bash
# Runs configs/strong_scaling.yaml on this machine, on emulated hosts and as a job of a real Slurm of four nodes. Its points
# must have the same columns. Only the number of launches and steps is reduced.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/slurm.sh
export SCALEBENCH_HOME=$PWD

short="data.samples=2000 measure.time.warmup_steps=1 measure.time.steps=3 measure.time.launches=1..1
    measure.accuracy.seeds=[] place.oversubscribe=allow"

summary() { # site
    echo "$tmp/$1/strong_scaling/latest/summary.csv"
}

runs_here() {
    expect 0 "strong scaling" "$scalebench" run strong_scaling.yaml --out "$tmp/local" \
        --set "$short site=local matrix.ranks=[1,2]" &&
        [ "$(column status "$(summary local)" | tr '\n' ' ')" = "ok ok ok " ]
}

# The largest point has two ranks on each of four hosts.
is_whole() { # site
    [ "$(column site "$(summary "$1")" | sort -u)" = "$1" ] &&
        [ "$(column status "$(summary "$1")" | sort -u)" = ok ] &&
        paste -d' ' <(column ranks "$(summary "$1")") <(column nodes "$(summary "$1")") \
            <(column strategy "$(summary "$1")") | tee /dev/stderr | grep -cE '^8 4 (none|allreduce)$' | grep -x 2
}

# Prints the columns without the last ones, which are options that vary; nodes vary only on hosts.
names() { # site, file
    head -n 1 "$tmp/$1/strong_scaling/latest/$2.csv" | sed -E 's/(,(sync\.strategy|ranks|nodes))+$//'
}

has_the_same_columns() { # site
    local file
    for file in summary raw steps columns losses; do
        cmp <(names local "$file") <(names "$1" "$file") || return 1
    done
}

runs_on_hosts() {
    expect 0 "strong scaling" "$scalebench" run strong_scaling.yaml --out "$tmp/emulated" \
        --set "$short matrix.ranks=[1,2,8] site=emulated site.hosts=4 ranks_per_node=2" || return 1
    is_whole emulated && has_the_same_columns emulated
}

# The usual sbatch command. Nodes accept two ranks each, which share the cores of one machine.
if [ -n "${RESULTS:-}" ]; then
    echo "in a job"
    job -N4 -- strong_scaling.yaml --out "$RESULTS" --set "$short matrix.ranks=[1,2,8] ranks_per_node=2"
    exit
fi

ran_in_a_job() {
    cat "$tmp/job.log"
    [ "$1" -eq 0 ] && is_whole slurm && has_the_same_columns slurm
}

check "strong_scaling.yaml runs on this machine" runs_here
if ci/netns.sh probe >"$tmp/probe.log" 2>&1; then
    check "columns of four hosts are the same" runs_on_hosts
else
    lacks "columns of four hosts are the same" netns
fi
RESULTS=$tmp/slurm ci/slurm.sh --nodes 4 run "$0" >"$tmp/job.log" 2>&1
status=$?
if [ "$status" -eq 3 ] && ! grep -q "in a job" "$tmp/job.log"; then
    lacks "columns of a job with four nodes are the same" slurm
else
    check "columns of a job with four nodes are the same" ran_in_a_job "$status"
fi
finish
