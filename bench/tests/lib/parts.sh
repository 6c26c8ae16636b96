# shellcheck shell=bash disable=SC2154 # variables of tap.sh
# Shared by tests of pipelines and of slices: networks that several ranks hold together. Source after tap.sh.

# Loss and accuracy of each epoch, to the digits that are printed.
numbers_of() { # what train_cnn said
    sed -n 's/^\(epoch.*accuracy [0-9.]* %\)  [0-9.]* s .*/\1/p' "$@"
}

# Rank 1 of two sleeps while it should be computing: rank 0 says what it waits for.
a_hang_is_told() { # phase in which it sleeps, pattern of what rank 0 waits for, command that trains, its options
    local phase=$1 awaited=$2 status
    shift 2
    "$@" --sync.deadline 2s --inject.kind fixed --inject.sleep 300s --inject.ranks '[1]' --inject.phase "$phase" \
        --inject.steps 3..3 >"$tmp/log" 2>&1
    status=$?
    cat "$tmp/log"
    [ "$status" -ne 0 ] && grep -q "rank 0: wait [0-9]* ($awaited) lasted longer than 2 s" "$tmp/log"
}
