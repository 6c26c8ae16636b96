#!/usr/bin/env bash
# Writes scalebench-REVISION-MACHINE.tar.gz: programs, their libraries, the dynamic loader, MPICH's mpiexec, specs,
# plot scripts, published numbers and MNIST, for machines without packages and without a network.
#
#   ci/bundle.sh [FOLDER]     `make bundle` calls this after the build; FOLDER is the build folder
#
# After unpacking, `./scalebench run configs/strong_scaling.yaml` works, as do README's commands with
# build/scalebench and build/train_cnn. Program NAME is build/NAME.program; build/NAME is bench/bundle/start.c, which
# starts it with the bundled loader. BUILD is the build folder (build). MPIEXEC is MPICH's mpiexec, with
# hydra_pmi_proxy beside it. SCALEBENCH_DATA is a folder with mnist/, or none.
# Exit status 1: a file is missing, or the archive exceeds 64 MiB; 3: no C library to link statically.
set -eu
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"
case "$# ${1:-}" in
"0 " | "1 "[!-]*) ;;
*)
    echo "usage: ci/bundle.sh [BUILD_FOLDER]; see --help" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/.."
# shellcheck source=ci/files.sh
. ci/files.sh
build=${BUILD:-build}
into=${1:-$build}

say() {
    echo "bundle: $*" >&2
}

fail() {
    say "$*"
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

short=$("$build/scalebench" --version | sed 's/.*(\([^ ]*\) .*/\1/')
name=scalebench-$short-$(uname -m)
root=$work/$name

# ---- Programs ------------------------------------------------------------------------------------------

is_elf() { # file
    [ "$(head -c 4 "$1" | tail -c 3)" = ELF ]
}

# Links equal files, so that the archive holds them once.
add_start() {
    "${CC:-gcc}" -std=c17 -Os -s -static -Wall -Wextra -I. -D_GNU_SOURCE -o "$root/start" bench/bundle/start.c \
        2>"$work/log" || {
        cat "$work/log" >&2
        say "libc.a not found: the starter cannot be linked statically. Install libc6-dev."
        exit 3
    }
}

add_program() { # file, name
    cp -L "$1" "$root/build/$2.program"
    strip -g "$root/build/$2.program"
    ln "$root/start" "$root/build/$2"
}

add_programs() {
    local path
    mkdir -p "$root/build"
    add_start
    for path in "$build"/*; do
        if [ ! -f "$path" ] || [ ! -x "$path" ]; then
            continue
        elif is_elf "$path"; then
            add_program "$path" "${path##*/}"
        else
            cp "$path" "$root/build"
        fi
    done
    [ -e "$root/build/train_cnn" ] || fail "$build/train_cnn not found. Run make all."
    [ ! -d "$build/torch_peer" ] || cp -r "$build/torch_peer" "$root/build"
    ln -s build/scalebench "$root/scalebench"
}

add_mpiexec() {
    local mpiexec=${MPIEXEC:-mpiexec} proxy
    mpiexec=$(readlink -f "$(command -v "$mpiexec" || command -v mpiexec.mpich || true)")
    [ -n "$mpiexec" ] || fail "mpiexec not found. Set MPIEXEC."
    "$mpiexec" --version 2>/dev/null | grep -qi hydra ||
        fail "$mpiexec is not MPICH's mpiexec (hydra). Set MPIEXEC."
    proxy=$(dirname "$mpiexec")/hydra_pmi_proxy
    [ -x "$proxy" ] || fail "hydra_pmi_proxy not found beside $mpiexec"
    add_program "$mpiexec" mpiexec
    add_program "$proxy" hydra_pmi_proxy
}

# ---- Libraries -----------------------------------------------------------------------------------------

# Prints the paths of all loaded libraries. The loader has a line without an arrow and is left out.
libraries_of() { # files
    local file
    for file in "$@"; do
        ldd "$file" >"$work/ldd" || fail "$file: ldd cannot list its libraries"
        ! grep -q 'not found' "$work/ldd" || fail "$file: $(grep 'not found' "$work/ldd" | head -n 1)"
        awk '$2 == "=>" { print $3 }' "$work/ldd"
    done | sort -u
}

loader_of() { # program
    ldd "$1" | awk '$1 ~ /^\// { print $1 }'
}

add_libraries() { # paths of libraries
    local path
    for path in "$@"; do
        [ -e "$root/lib/${path##*/}" ] || cp -L "$path" "$root/lib"
        echo "$path" >>"$work/taken"
    done
}

# Adds the transports that UCX loads from the folder ucx beside its library.
add_transports() { # paths of libraries
    local path folder
    for path in "$@"; do
        folder=$(dirname "$(readlink -f "$path")")/ucx
        case ${path##*/} in
        libucs.so*) [ ! -d "$folder" ] || ls "$folder"/*.so.* ;;
        esac
    done
}

add_all_libraries() {
    local loader libraries modules path
    mkdir -p "$root/lib/ucx" "$root/lib/as"
    loader=$(loader_of "$root/build/train_cnn.program")
    "$loader" --help 2>/dev/null | grep -q -- --argv0 ||
        fail "$loader does not support --argv0. Use glibc 2.33 or newer."
    add_libraries "$loader"
    # shellcheck disable=SC2046 # none of these paths has a space
    libraries=$(libraries_of "$root"/build/*.program)
    # shellcheck disable=SC2086
    add_libraries $libraries
    # shellcheck disable=SC2086
    modules=$(add_transports $libraries)
    for path in $modules; do
        cp -L "$path" "$root/lib/ucx"
        echo "$path" >>"$work/taken"
    done
    # shellcheck disable=SC2046,SC2086
    [ -z "$modules" ] || add_libraries $(libraries_of $modules)
    for path in "$root"/build/*.program; do
        path=${path##*/}
        ln -s "../${loader##*/}" "$root/lib/as/${path%.program}"
    done
    rm "$root/start"
}

# Checks with the bundled loader that no library comes from elsewhere.
check_libraries() {
    local file loader
    for file in "$root"/build/*.program "$root"/lib/ucx/*; do
        [ -e "$file" ] || continue
        loader=$(readlink -f "$root/lib/as/scalebench")
        "$loader" --inhibit-cache --library-path "$root/lib" --list "$file" |
            root=$root/ awk '/not found/ || (i = index($0, " => ")) && index(substr($0, i + 4), ENVIRON["root"]) != 1 { print; bad = 1 }
                END { exit bad }' >&2 || fail "${file##*/} loads these libraries from outside the bundle"
    done
    "$root/scalebench" list sites >/dev/null || fail "scalebench does not start"
    "$root/build/train_cnn" --help >/dev/null || fail "train_cnn does not start"
}

# ---- Files that programs read ----------------------------------------------------------------------------------

# Packs the data sets at hand; the trainer generates the others.
add_data() {
    local folder path folders=("${SCALEBENCH_DATA:-/nowhere}"{/mnist,} data/mnist ../shared/data/mnist)
    [ "${SCALEBENCH_DATA:-}" != none ] || folders=()
    for folder in "${folders[@]}"; do
        compgen -G "$folder/train-images-idx3-ubyte*" >/dev/null || continue
        mkdir -p "$root/data/mnist"
        for path in "$folder"/{train,t10k}-{images-idx3,labels-idx1}-ubyte; do
            if [ -f "$path.gz" ]; then
                cp "$path.gz" "$root/data/mnist"
            else
                gzip -cn9 "$path" >"$root/data/mnist/${path##*/}.gz"
            fi
        done
        return
    done
    say "MNIST not found: generated digits will replace it. Run make data to download it."
}

# Packs the licences of the libraries.
add_licences() {
    local path package
    mkdir "$root/licences"
    if ! command -v dpkg >/dev/null; then
        say "dpkg not found: licences/ is empty"
        return
    fi
    sort -u "$work/taken" | while read -r path; do
        package=$(dpkg -S "$path" 2>/dev/null || dpkg -S "$(readlink -f "$path")" 2>/dev/null ||
            dpkg -S "/usr$path" 2>/dev/null || true)
        package=${package%%:*}
        [ ! -e "/usr/share/doc/${package:-none}/copyright" ] ||
            cp "/usr/share/doc/$package/copyright" "$root/licences/$package"
    done
}

mkdir -p "$root" "$into"
add_programs
add_mpiexec
add_all_libraries
check_libraries
add_data
copy_read_files "$build/scalebench" "$root"
add_licences
archive=$into/$name.tar.gz
pack_folder "$root" "$archive"
say "$(awk -v n="$(stat -c %s "$archive")" 'BEGIN { printf "%.1f", n / 1048576 }') MiB, unpacked $(du -sm "$root" | cut -f 1) MiB"
echo "$archive"
