#!/usr/bin/env bash
# Runs each command of scalebench once, and draws a table and a figure of each report from committed runs. This is the
# main path of the first tier; the second tier tests the details.
# cores: 1
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

export SCALEBENCH_OUT=$out
reference=results/reference

cat >"$tmp/simulated.yaml" <<'END'
name: simulated
model: softmax_784
data: {set: digits}
train: {lr: 0.1, global_batch: 64}
site: simulated
compute: {kind: replay, rate: 40}
ranks: 4
measure: {time: {launches: 1, steps: 5}}
END
"$bin/scalebench" run "$tmp/simulated.yaml" >"$tmp/simulated.log" 2>&1

# One row per command: a text of its output, then its arguments. `run` comes first, since others use its run.
commands() {
    cat <<END
new|3 points|$tmp/begun
run|launch|$tmp/fake.yaml
plan|2 points|$tmp/fake.yaml --set matrix.sync.strategy=[tree,ring]
export|ranks=2,2,1,1,|$tmp/fake.yaml --set matrix.sync.strategy=[tree] --output $tmp/traces
simulate|4 simulated ranks|$(ls -d "$out"/simulated/latest/launches/*/time-000)
submit|build=$bin|$tmp/fake.yaml --site example --dry-run
status|fake|fake
runs|fake|
figures|time.svg|$latest --set figures=[time]
report|1 run|$reference/strong_scaling --output $tmp/page.html
predict|without strategy|past_predict
collect|filed as|$reference/strong_scaling
table|allreduce|$reference/strong_scaling
compare|same|$reference/strong_scaling $reference/strong_scaling
check|holds|$reference/strong_scaling ranks>0
claims|survive|results/claims.yaml
doctor|cores|--set site=local
list|allreduce|strategies
explain|Learning rate|train.lr
model|690,590|keras_690k
machine|core|
schema|properties|
man|scalebench|
completion|complete|bash
END
}

# The trainer is fake; doctor starts ranks of its own.
works() { # command, text, arguments
    local program=$bin/scalebench words
    read -r -a words <<<"$3"
    [ "$1" != doctor ] || program=$scalebench
    "$program" "$1" "${words[@]}" >"$tmp/said" 2>&1 </dev/null
    local status=$?
    cat "$tmp/said"
    # Findings of doctor depend on the machine.
    { [ "$status" -eq 0 ] || [ "$1 $status" = "doctor 1" ]; } && grep -qF -- "$2" "$tmp/said"
}

# Doctor measures.
needs_its_output() { # command, arguments
    local words how
    read -r -a words <<<"$2"
    for how in without_output to_a_full_one; do
        [ "$1" != new ] || rm -f "${words[0]}.yaml"
        [ "$1" = doctor ] || expect 1 "scalebench: standard output cannot be written" "$how" "$bin/scalebench" "$1" "${words[@]}" || return 1
    done
}

without_output() { # command
    "$@" >&-
}

to_a_full_one() { # command
    "$@" >/dev/full
}

while IFS='|' read -r command text arguments; do
    check "scalebench $command" works "$command" "$text" "$arguments"
    check "scalebench $command with its output closed or full" needs_its_output "$command" "$arguments"
done < <(commands)

has_every_command() {
    diff <("$scalebench" help | sed -n 's/^  \([a-z]\{3,\}\) .*/\1/p' | grep -vx help | sort) <(commands | cut -d'|' -f1 | sort)
}
check "every command has its row" has_every_command

# The page is one file and opens without a network.
page_holds_the_run() {
    grep -q '<svg' "$tmp/page.html" && ! grep -E 'src="https?:' "$tmp/page.html"
}
check "the page holds its figures and needs no network" page_holds_the_run

# Prints the table of a committed run of a report, and draws its figures.
from_what_is_committed() { # run
    cp -rL "$reference/$1" "$tmp/$1" && rm -f "$tmp/$1"/*.svg || return 1
    "$scalebench" table "$tmp/$1" >"$tmp/said" && [ "$(wc -l <"$tmp/said")" -gt 5 ] || return 1
    "$scalebench" figures "$tmp/$1" >"$tmp/said" 2>&1 || { cat "$tmp/said"; return 1; }
    compgen -G "$tmp/$1/*.svg" >/dev/null
}
for run in naik_yadav_table1 kota_fig8 wang_yang_fig7 amundkar_throughput past_pinning; do
    check "$run is printed and drawn from committed files" from_what_is_committed "$run"
done
finish
