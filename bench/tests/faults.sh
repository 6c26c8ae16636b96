#!/usr/bin/env bash
# Tests that a killed or stopped rank ends the job with a failure and a message that names the rank, for every strategy and
# every phase. Nothing of the job may be left 5 s later. The rank is caught asleep in the phase of inject.phase.
#
# By default every strategy and every phase has its turn with each signal, with both ways to wait, at the first and the last
# of two ranks. FAULTS=all takes half an hour: every variant of every strategy in every phase, rank 0 of two, ranks 1 and 2
# of three, each signal, and signals at random moments. FAULTS=7/40 runs the cases whose number is 7 modulo 40.
# tier: rest
# cores: 2
# seconds: 60
set -u
. bench/tests/lib/tap.sh

phases=(load forward backward sync update evaluation checkpoint start read end)
reads=(scatter mpiio mpiio_collective window)
waits=(yield block)
signals=(KILL STOP)
deadline=5 # a rank is caught within it, also where processes start slowly
jobs=${FAULTS_JOBS:-6}

# Processes of a run, and their crash reporters, have its folder in their command line.
processes_of() { # folder
    pgrep -f -- "--record=$1( |\$)" | while read -r pid; do
        [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$train_cnn")" ] && echo "$pid"
    done
}

# Reads the line of a node at the start: "detail: ranks 0 1 on vm: process ids 511 512".
pid_of_rank() { # folder, rank
    local line ranks pids i
    line=$(grep -m 1 ": detail: ranks .*: process ids " "$1/log") || return 1
    read -ra ranks <<<"${line#*: detail: ranks }"
    read -ra pids <<<"${line#*: process ids }"
    for i in "${!pids[@]}"; do
        [ "${ranks[i]}" != "$2" ] || echo "${pids[i]}"
    done
}

# Tests several times whether a process sleeps: waits for files are short, and waiting ranks never sleep.
is_asleep() { # pid
    local i state
    for ((i = 0; i < 4; i++)); do
        read -r _ _ state _ 2>/dev/null <"/proc/$1/stat" && [ "$state" = S ] || return 1
        sleep 0.05
    done
}

wait_until_asleep() { # folder, rank
    local pid
    while kill -0 "$job" 2>/dev/null; do
        pid=$(pid_of_rank "$1" "$2") && is_asleep "$pid" && echo "$pid" && return
        sleep 0.1
    done
    return 1
}

# Waits up to two seconds after the rank has started and has its crash reporter.
wait_by_chance() { # folder, rank
    local pid
    while kill -0 "$job" 2>/dev/null; do
        if pid=$(process_of_rank "--record=$1( |\$)" "$2" | head -n 1) && [ -n "$pid" ] && pgrep -P "$pid" >/dev/null; then
            sleep "$((RANDOM % 2)).$((RANDOM % 10))"
            echo "$pid"
            return
        fi
    done
    return 1
}

# Checks 5 s after the end of the job that no process is left.
nothing_is_left() { # folder
    local i
    for ((i = 0; i < 50; i++)); do
        [ -n "$(processes_of "$1")" ] || return 0
        sleep 0.1
    done
    echo "left: $(processes_of "$1" | xargs)"
    return 1
}

# A time limit, so that a hanging job fails and does not hang the test.
comes_to_an_end() {
    local i
    for ((i = 0; i < 1200; i++)); do
        kill -0 "$job" 2>/dev/null || return 0
        sleep 0.1
    done
    echo "the job hangs: 120 s after a signal, at a deadline of $deadline s"
    kill "$job"
    return 1
}

# Checks that the message names the killed rank and none that the launcher killed afterwards.
names_killed() { # folder, rank, pid
    local told
    told=$(grep "was killed or has crashed" "$1/log")
    [ "$(wc -l <<<"$told")" = 1 ] && [[ $told == "train_cnn: rank $2 (process $3 on "* ]]
}

# Checks that every message about a deadline names this rank and no other.
names_stopped() { # log, rank
    local told
    told=$(grep -E "lasted longer than" "$1")
    [ -n "$told" ] && ! grep -qvE "(not arrived yet|arrived, but silent|stopped): rank $2\$" <<<"$told"
}

# Options that let the rank sleep from its third step on.
options_of() { # phase, rank, number, config
    local last=1000 read=${reads[$3 % ${#reads[@]}]}
    # Synchronising options are not supported by strategies whose ranks do not wait.
    [[ $4 != *stale* && $4 != *async* ]] || read=${read%_collective}
    case $1 in
    chance)
        echo "--train.epochs 100000"
        return
        ;;
    start) echo "--inject.steps 1..1" ;;
    *) echo "--inject.steps 3..$last" ;;
    esac
    [ "$1" != read ] || echo "--data.read $read"
    echo "--inject.kind fixed --inject.sleep 300s --inject.ranks [$2] --inject.phase $1 --train.epochs 3"
}

job_ends() { # number, config, phase, signal, rank, ranks, wait
    local folder=$tmp/$1 pid status job
    mkdir -p "$folder"
    export SCALEBENCH_LOG=detail
    # shellcheck disable=SC2046,SC2086 # options are several words
    "$mpiexec" -n "$6" "$train_cnn" --model softmax_784 --data.set digits --data.samples 64 \
        --train.global_batch 16 --sync.strategy $2 --sync.deadline "${deadline}s" \
        --checkpoint.every_epochs 1 --checkpoint.path "$folder/checkpoint.safetensors" --wait "$7" \
        $(options_of "$3" "$5" "$1" "$2") --record="$folder" >"$folder/log" 2>&1 &
    job=$!
    if [ "$3" = chance ]; then
        pid=$(wait_by_chance "$folder" "$5")
    else
        pid=$(wait_until_asleep "$folder" "$5")
    fi || { cat "$folder/log"; echo "rank $5 was never caught"; return 1; }
    kill "-$4" "$pid" || { cat "$folder/log"; echo "rank $5 ended before the signal"; return 1; }
    comes_to_an_end || { cat "$folder/log"; return 1; }
    wait "$job"
    status=$?
    cat "$folder/log"
    [ "$status" -ne 0 ] || { echo "the job ended well"; return 1; }
    nothing_is_left "$folder" || return 1
    if [ "$4" = STOP ]; then
        names_stopped "$folder/log" "$5" || { echo "rank $5 is not named, or another is"; return 1; }
    else
        names_killed "$folder" "$5" "$pid" || { echo "rank $5, process $pid, is not named, or another is"; return 1; }
    fi
    rm -r "$folder"
}

# Runs several jobs at a time, since they mostly wait.
numbers=()
names=()
start() { # config, phase, signal, rank, ranks, wait
    local n=${#numbers[@]}
    numbers+=("$n")
    names+=("$1: SIG$3 to rank $4 of $5 in $2, wait $6")
    [ $((n % slices)) -eq "$slice" ] || return
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    (
        job_ends "$n" "$@" >"$tmp/$n.log" 2>&1
        echo "$?" >"$tmp/$n.status"
    ) &
}

verdict() { # number
    cat "$tmp/$1.log"
    [ "$(cat "$tmp/$1.status")" = 0 ]
}

# A parameter server updates weights while it serves.
sleeps() { # config, phase, rank
    [ "$2" != update ] || [[ $1 != param_server* ]] || [ "$3" -eq 0 ]
}

list() { # kind
    "$scalebench" list "$1" | awk '{ print $1 }'
}

# Prints the variants of a strategy except its default.
other_variants() {
    "$scalebench" list variants | awk '{ sub(":", "", $3); if (seen[$3]++) print $3 " --sync.variant " $1 }'
}

each_case() { # config, phases...
    local config=$1 phase signal rank n=0
    shift
    for phase in "$@"; do
        for signal in "${signals[@]}"; do
            for rank in 0 1 2; do
                sleeps "$config" "$phase" "$rank" || continue
                n=$((n + 1))
                start "$config" "$phase" "$signal" "$rank" $((rank > 0 ? 3 : 2)) "${waits[(n + n / 6) % 2]}"
            done
        done
    done
}

all_cases() {
    local config overlap
    while read -r config; do
        each_case "$config" "${phases[@]}" chance
    done < <(list strategies; other_variants)
    for overlap in poll_layers poll_tiles thread; do
        while read -r config; do
            each_case "$config --sync.overlap $overlap" backward sync update chance
        done < <(printf '%s\n' bucketed fusion delayed; echo param_server; other_variants | grep param_server)
    done
    while read -r config; do
        each_case "allreduce --sync.compress $config" backward sync chance
        each_case "allreduce_layer --sync.compress $config" sync
    done < <(list compressors | grep -v none)
    # Batch statistics are summed during forward and backward, on a communicator of their own.
    each_case "bucketed --model vgg_mini --data.set shapes --train.batch_norm sync" start forward backward sync end
}

# Rotates the phases after each round.
some_cases() {
    local config signal n=0 phase rank
    while read -r config; do
        for signal in "${signals[@]}"; do
            phase=${phases[(n / 2 * 3 + n % 2 + n / (2 * ${#phases[@]})) % ${#phases[@]}]}
            rank=$(((n / 2 + n / 4) % 2))
            sleeps "$config" "$phase" "$rank" || rank=0
            start "$config" "$phase" "$signal" "$rank" 2 "${waits[(n / 2) % 2]}"
            n=$((n + 1))
        done
    done < <(list strategies; other_variants | grep param_server)
}

slice=0 slices=1
case ${FAULTS:-some} in
some) some_cases ;;
all) all_cases ;;
*/*)
    slice=${FAULTS%/*} slices=${FAULTS#*/}
    all_cases
    ;;
*)
    echo "FAULTS=$FAULTS: expected all or a slice of it, such as 7/40" >&2
    exit 2
    ;;
esac
wait
for n in "${numbers[@]}"; do
    [ $((n % slices)) -ne "$slice" ] || check "${names[n]}" verdict "$n"
done
finish
