# shellcheck shell=bash
# Sourced by scripts that stand around a command and pass signals on to it.

# Waits until a child is gone, through however many signals that a trap takes meanwhile, each of which ends `wait`
# early; its exit status is the child's.
end_of() { # process
    local status
    wait "$1"
    status=$?
    while kill -0 "$1" 2>/dev/null; do
        wait "$1"
        status=$?
    done
    return "$status"
}
