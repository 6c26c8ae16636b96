# shellcheck shell=bash
# Starts busy programs, one on every processor of this shell; they take at least half of each.

start_hogs() { # fills hogs
    local list part cpu
    hogs=()
    list=$(taskset -cp $$) # ends in a list such as 0-3,8
    for part in $(tr ',' ' ' <<<"${list##*: }"); do
        for ((cpu = ${part%-*}; cpu <= ${part#*-}; cpu++)); do
            taskset -c "$cpu" sh -c 'while :; do :; done' &
            hogs+=($!)
        done
    done
}

end_hogs() {
    kill "${hogs[@]}"
    wait "${hogs[@]}" 2>/dev/null
}
