#!/usr/bin/env bash
# Kills any rank of an accuracy run in any phase. The run resumes from its last checkpoint and trains to the end. At most one
# checkpoint interval is repeated, no process is left, and the result equals that of an undisturbed run.
#
# Four random trials; FAULTS=all: thirty, which takes some minutes. RESTARTS_SEED=N repeats those of the run that printed N.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh
export SCALEBENCH_HOME=$PWD
seed=${RESTARTS_SEED:-$SRANDOM}
RANDOM=$((seed & 32767))
echo "# RESTARTS_SEED=$seed"

trials=4 interval=4 epoch=10 steps=20 # of a checkpoint, an epoch, a run
[ "${FAULTS:-some}" != all ] || trials=30
cat >"$tmp/killed.yaml" <<END
name: killed
model: lenet_21k
data: {set: digits, samples: $((epoch * 32))}
train: {optimizer: adam, lr: 0.001, global_batch: 32, epochs: $((steps / epoch))}
ranks: 2
place.oversubscribe: allow
checkpoint.every_steps: $interval
restart.budget: 1
measure: {retries: 0, time: {launches: 0}, accuracy: {seeds: [1]}}
figures: []
END

column() { # name, table
    "$python" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2])): print(row[sys.argv[1]])' "$1" "$2"
}

run() { # folder, options
    "$scalebench" run "$tmp/killed.yaml" --out "$1" --set "${*:2}"
}

in_microseconds() {
    echo "${EPOCHREALTIME//[.,]/}"
}

# Result and duration of an undisturbed run of two ranks.
nobody_kills() {
    local begin
    begin=$(in_microseconds)
    run "$tmp/whole" restart.with=same || return
    lasts=$(($(in_microseconds) - begin))
    column test_loss "$tmp/whole/killed/latest/epochs.csv" | tee "$tmp/losses"
    echo "$lasts us"
    [ "$(wc -l <"$tmp/losses")" -eq $((steps / epoch)) ]
}

# Set by draw: the victim, and its phase or the delay of a kill from outside.
phases=(start read load forward backward sync update evaluation checkpoint end chance chance begin)
left=()
draw() {
    local at
    [ "${#left[@]}" -gt 0 ] || left=("${phases[@]}")
    at=$((RANDOM % ${#left[@]})) phase=${left[at]}
    unset "left[at]"
    left=("${left[@]}")
    rank=$((RANDOM % 2)) step=$((1 + RANDOM % steps)) moment=$((lasts * (RANDOM % 1000) / 1000))
    goes_on=same
    [ $((RANDOM % 3)) -gt 0 ] || goes_on=fewer
    case $phase in
    start) step=1 ;;
    read) step=$((1 + RANDOM % (steps / epoch) * epoch)) ;;
    evaluation) step=$((epoch * (1 + RANDOM % (steps / epoch)))) ;;
    checkpoint) step=$((interval * (1 + RANDOM % (steps / interval)))) ;;
    end) step=$steps ;;
    esac
}

# Kills from outside at the moment, or as soon afterwards as the rank exists; `begin`: as soon as it exists. False if the run
# ends before.
kill_from_outside() { # folder
    local pid
    [ "$phase" = begin ] || sleep "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))"
    while kill -0 "$campaign" 2>/dev/null; do
        pid=$(process_of_rank "--record=$1/" "$rank" | head -n 1)
        [ -z "$pid" ] || { kill -KILL "$pid" 2>/dev/null && return; }
        sleep 0.02
    done
    return 1
}

# A kill is not noticed if all ranks have already reported their end to the launcher.
was_noticed() { # folder
    grep -q '"end": "died"' "$1"/killed/latest/launches/*/seed1.segments.json
}

# Repeats a run that ended before the kill with half of the delay.
run_and_kill() { # folder
    local tries
    case $phase in
    chance | begin) ;;
    *)
        folder=$1
        run "$folder" "restart.with=$goes_on inject.kind=kill inject.ranks=[$rank] inject.phase=$phase inject.steps=$step..$step"
        return
        ;;
    esac
    for ((tries = 0; tries < 20; tries++)); do
        folder=$1.$tries
        run "$folder" "restart.with=$goes_on" &
        campaign=$!
        kill_from_outside "$folder"
        wait "$campaign" || return
        ! was_noticed "$folder" || return 0
        moment=$((moment / 2))
    done
    echo "rank $rank was never caught"
    return 1
}

trains_to_the_end() { # number
    local results folder campaign
    run_and_kill "$tmp/trial-$1" || return
    gone "$folder/" || return
    results=$folder/killed/latest
    cat "$results/segments.csv"
    [ "$(column status "$results/raw.csv")" = ok ] || return
    [ "$(column end "$results/segments.csv" | xargs)" = "died done" ] || return
    [ "$(column lost_steps "$results/raw.csv")" -le "$interval" ] || return
    [ "$(column steps_done "$results/segments.csv" | tail -n 1)" = "$steps" ] || return
    [ "$(column epoch "$results/epochs.csv" | xargs)" = "1 2" ] || return
    if [ "$goes_on" = fewer ]; then
        [ "$(column ranks "$results/segments.csv" | xargs)" = "2 1" ]
    else
        column test_loss "$results/epochs.csv" | diff - "$tmp/losses"
    fi
}

if ! python=$(python_with csv); then
    lacks "ranks that are killed" python3
    finish
fi
check "nobody kills" nobody_kills
for ((i = 1; i <= trials; i++)); do
    draw
    case $phase in
    chance) where="at $((moment / 1000)) ms" ;;
    begin) where="as soon as it is there" ;;
    *) where="in phase $phase of step $step" ;;
    esac
    check "trial $i of $trials: rank $rank $where, $goes_on" trains_to_the_end "$i"
done
finish
