#!/usr/bin/env bash
# A rank that is killed or stopped, under every strategy, ends the job with a failure, a stopped one with
# a message that names it; nothing of the job is left 5 s later. The rank is caught asleep in the phase
# that inject.phase says; phases take turns over strategies and signals.
set -u
. bench/tests/lib/tap.sh

phases=(load forward backward sync evaluation checkpoint)
deadline=3
jobs=6

# Processes of a run carry its folder in their command line.
ranks_of() { # folder
    pgrep -f -- "--record=$1( |\$)" | while read -r pid; do
        [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$train_cnn")" ] && echo "$pid"
    done
}

pid_of_rank() { # folder, rank
    local pid
    for pid in $(ranks_of "$1"); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "PMI_RANK=$2" && echo "$pid" && return
    done
    return 1
}

# Asleep, in several looks: waits for files are short, other ranks never sleep while they wait.
is_asleep() { # pid
    local i
    for ((i = 0; i < 4; i++)); do
        [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = S ] || return 1
        sleep 0.05
    done
}

wait_until_asleep() { # folder, rank
    local pid
    while kill -0 "$job" 2>/dev/null; do
        pid=$(pid_of_rank "$1" "$2") && is_asleep "$pid" && echo "$pid" && return
        sleep 0.05
    done
    return 1
}

# 5 s from the end of the job, as a user would look for what is left.
nothing_is_left() { # folder
    local i
    for ((i = 0; i < 50; i++)); do
        [ -n "$(ranks_of "$1")" ] || return 0
        sleep 0.1
    done
    echo "left: $(ranks_of "$1" | xargs)"
    return 1
}

# The second of the ranks sleeps in its third step, or in what follows it.
job_ends() { # strategy, phase, signal
    local folder=$tmp/$1.$2.$3 pid status job
    mkdir -p "$folder"
    "$mpiexec" -n 2 "$train_cnn" --model softmax_784 --data.set digits --data.samples 64 \
        --train.global_batch 16 --train.epochs 3 --sync.strategy "$1" --sync.deadline "${deadline}s" \
        --checkpoint.every_epochs 1 --checkpoint.path "$folder/checkpoint.safetensors" --wait yield \
        --inject.kind fixed --inject.sleep 60s --inject.ranks "[1]" --inject.steps 3..1000 \
        --inject.phase "$2" --record="$folder" >"$folder/log" 2>&1 &
    job=$!
    pid=$(wait_until_asleep "$folder" 1) || { cat "$folder/log"; echo "rank 1 never slept"; return 1; }
    kill "-$3" "$pid"
    wait "$job"
    status=$?
    cat "$folder/log"
    [ "$status" -ne 0 ] || { echo "the job ended well"; return 1; }
    nothing_is_left "$folder" || return 1
    [ "$3" = KILL ] || grep -Eq "(not there yet|there, but silent): rank 1" "$folder/log"
}

# Several jobs at a time: they mostly sleep.
start() { # number, strategy, phase, signal
    (
        job_ends "$2" "$3" "$4" >"$tmp/$1.log" 2>&1
        echo "$?" >"$tmp/$1.status"
    ) &
}

verdict() { # number
    cat "$tmp/$1.log"
    [ "$(cat "$tmp/$1.status")" = 0 ]
}

names=()
for strategy in $("$scalebench" list strategies | awk '{ print $1 }'); do
    for signal in KILL STOP; do
        n=${#names[@]}
        phase=${phases[(n + n / ${#phases[@]}) % ${#phases[@]}]}
        start "$n" "$strategy" "$phase" "$signal"
        names+=("$strategy: SIG$signal in $phase")
        [ $((n % jobs)) -ne $((jobs - 1)) ] || wait
    done
done
wait
for n in "${!names[@]}"; do
    check "${names[n]}" verdict "$n"
done
finish
