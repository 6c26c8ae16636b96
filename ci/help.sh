# shellcheck shell=bash
# Sourced by scripts of this folder that somebody types, before they do anything: the comment on top of a script is its help.

# Numbers have points: an awk that goes by a locale with commas reads 1.5 as 1 and writes 1,5. Letters stay the user's.
if [ -n "${LC_ALL:-}" ]; then
    export LANG=$LC_ALL
    unset LC_ALL
fi
export LC_NUMERIC=C

# Without its first line, which says who runs it.
print_help() {
    awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

# Of a script whose own arguments are told apart later.
answer_help() { # arguments
    case ${1:-} in
    --help | -h)
        print_help
        exit 0
        ;;
    esac
}

# Of a script that takes none: what differs is told by variables.
take_no_arguments() { # arguments
    answer_help "$@"
    [ $# -eq 0 ] || {
        echo "${0##*/}: '$1' is unknown; known: --help, which names the variables that are looked at" >&2
        exit 2
    }
}
