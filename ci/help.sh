# shellcheck shell=bash
# Sourced first by scripts that users call: prints the comment on top of a script as its --help.

# Sets a locale with decimal points: awk with decimal commas reads 1.5 as 1 and writes 1,5. Characters keep the user's.
if [ -n "${LC_ALL:-}" ]; then
    export LANG=$LC_ALL
    unset LC_ALL
fi
export LC_NUMERIC=C

# Leaves out the first line, #!.
print_help() {
    awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
}

# For scripts that parse their arguments later.
answer_help() { # arguments
    case ${1:-} in
    --help | -h)
        print_help
        exit 0
        ;;
    esac
}

# For scripts without arguments, which variables control.
take_no_arguments() { # arguments
    answer_help "$@"
    [ $# -eq 0 ] || {
        echo "${0##*/}: '$1' is unknown; known: --help, which lists the environment variables" >&2
        exit 2
    }
}
