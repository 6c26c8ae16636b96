# shellcheck shell=bash
# Sourced by scripts that wrap a command and pass signals on to it.

# Waits until a child has ended and returns its exit status. Signals that a trap handles end `wait` early, so it loops.
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
