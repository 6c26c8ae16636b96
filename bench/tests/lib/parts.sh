# shellcheck shell=bash disable=SC2154 # variables of tap.sh
# Shared by tests of pipelines and of slices: networks that several ranks hold together. Source after tap.sh.

# Prints loss and accuracy of each epoch as printed by train_cnn.
numbers_of() { # output of train_cnn
    sed -n 's/^\(epoch.*accuracy [0-9.]* %\)  [0-9.]* s .*/\1/p' "$@"
}

# Lets rank 1 of two sleep while it should compute; rank 0 must report its wait.
a_hang_is_told() { # phase in which it sleeps, pattern of the wait that rank 0 reports, command that trains, its options
    local phase=$1 awaited=$2 status
    shift 2
    "$@" --sync.deadline 4s --inject.kind fixed --inject.sleep 300s --inject.ranks '[1]' --inject.phase "$phase" \
        --inject.steps 3..3 >"$tmp/log" 2>&1
    status=$?
    cat "$tmp/log"
    [ "$status" -ne 0 ] && grep -q "rank 0: wait [0-9]* ($awaited) lasted longer than 4 s" "$tmp/log"
}
