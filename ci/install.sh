#!/usr/bin/env bash
# Installs scalebench for every user: ci/install.sh; ci/install.sh remove   (`make install` and `make uninstall`)
#
#   PREFIX/bin/scalebench   link to the program
#   PREFIX/lib/scalebench   programs (bin/), specs, networks, plot scripts, published numbers, committed runs, and data/
#                           if `make data` has downloaded data sets
#   PREFIX/share            man page; completions of bash, zsh and fish
#
# Results of an installed scalebench are below the current folder. PREFIX is /usr/local by default. DESTDIR, if set, is
# put before PREFIX, for packages. BUILD is the build folder, PROGRAMS lists its programs.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"
cd "$(dirname "$0")/.."
# shellcheck source=ci/files.sh
. ci/files.sh
scalebench=${BUILD:-build}/scalebench
prefix=${DESTDIR:-}$(realpath -ms "${PREFIX-/usr/local}")
home=$prefix/lib/scalebench
man=$prefix/share/man/man1/scalebench.1
completions=("bash $prefix/share/bash-completion/completions/scalebench"
    "zsh $prefix/share/zsh/site-functions/_scalebench"
    "fish $prefix/share/fish/vendor_completions.d/scalebench.fish")

# Keeps data/, into which an administrator may have downloaded data sets.
remove_old() {
    rm -rf "${home:?}"/{bin,ci,configs,plots,results}
}

# Writes a file with an output of scalebench, readable by all.
write() { # file, arguments of scalebench
    mkdir -p "$(dirname "$1")"
    "$scalebench" "${@:2}" >"$1"
    chmod 644 "$1"
}

add() {
    local shell file
    umask 022
    remove_old
    mkdir -p "$home/bin" "$prefix/bin"
    # shellcheck disable=SC2086 # a list of words
    install -m 755 ${PROGRAMS:-"$scalebench"} "$home/bin"
    cp -r "${scalebench%/*}/torch_peer" "$home/bin"
    copy_read_files "$scalebench" "$home"
    [ ! -d data ] || cp -r data "$home"
    chmod -R u+rwX,go+rX,go-w "$home"
    ln -sfn ../lib/scalebench/bin/scalebench "$prefix/bin/scalebench"
    write "$man" man
    while read -r shell file; do
        write "$file" completion "$shell"
    done < <(printf '%s\n' "${completions[@]}")
    echo "$prefix/bin/scalebench"
}

case "$# ${1:-}" in
"0 ") add ;;
"1 remove") rm -rf "$home" "$prefix/bin/scalebench" "$man" "${completions[@]#* }" ;;
*)
    echo "usage: ci/install.sh [remove]; see --help" >&2
    exit 2
    ;;
esac
