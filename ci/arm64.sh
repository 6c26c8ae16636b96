#!/usr/bin/env bash
# Runs the kernels' tests for 64-bit ARM on another kind of machine, cross-compiled, in qemu's user mode. They
# show that results are right, not how fast they would be.
#
#   arm64.sh libraries     download the libraries for arm64 with apt, without changing installed packages
#   arm64.sh missing       print what is missing here; nothing if the tests can run
#   arm64.sh run NAME..    build and run the tests of these names; TAP on standard output
#
# Everything is kept in build/arm64. apt uses package lists of its own for the other architecture, and the packages
# are unpacked, not installed.
set -eu
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"
cd "$(dirname "$0")/.."
folder=build/arm64
libraries=$PWD/$folder/libraries
target=aarch64-linux-gnu
packages="libblis-serial-dev libblis4-serial libcmocka-dev libcmocka0 libyaml-dev libyaml-0-2 libpcre2-dev libpcre2-8-0 libmd-dev libmd0"

have() {
    command -v "$1" >/dev/null 2>&1
}

missing() {
    have $target-gcc || echo "no $target-gcc"
    have qemu-aarch64 || have qemu-aarch64-static || echo "no qemu-aarch64"
    [ -e "$libraries/complete" ] || echo "no libraries for arm64"
}

apt_for_arm64() { # work folder, arguments
    local work=$1
    shift
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User= \
        -o Dir::State="$work/state" -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" "$@"
}

# Copies headers and shared objects of the packages to include/ and lib/, as <LIBRARY>_DIR= of make expects.
fetch_libraries() {
    [ ! -e "$libraries/complete" ] || return 0
    local work package
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf '$work'" EXIT
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/root" "$work/packages"
    echo "arm64: fetching $packages" >&2
    apt_for_arm64 "$work" update
    # shellcheck disable=SC2086 # a list of words
    (cd "$work/packages" && apt_for_arm64 "$work" download $packages)
    for package in "$work"/packages/*.deb; do
        dpkg-deb -x "$package" "$work/root"
    done
    rm -rf "$libraries"
    mkdir -p "$libraries/include" "$libraries/lib"
    cp "$work"/root/usr/include/*.h "$work/root/usr/include/$target"/blis-serial/*.h "$libraries/include"
    cp -a "$work/root/usr/lib/$target"/*.so* "$work/root/usr/lib/$target"/blis-serial/libblis.so* \
        "$libraries/lib"
    touch "$libraries/complete"
}

# Unsets flags and folders of a calling make, which are for this machine.
build_tests() { # names
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u SANITIZE make -s -j"$(nproc)" BUILD="$folder" WERROR=1 OPT=-O3 \
        CC="$target-gcc" AR="$target-ar" PKGCONF=false BLIS_DIR="$libraries" YAML_DIR="$libraries" \
        PCRE2_DIR="$libraries" MD_DIR="$libraries" CMOCKA_DIR="$libraries" "${@/#/$folder/tests/}" >&2
}

# Checks that kernels in portable vector types use NEON: four fused products and sums per instruction. Kernels that only
# divide, copy or compare have none.
products_are_neon() {
    local object
    for object in winograd/winograd_product first_conv small_conv/small_conv_{forward,backward} small_dense dense_bytes norm; do
        "$target-objdump" -d "$folder/obj/kernels/simd/$object.portable.o" |
            grep -qE 'fmla[[:space:]]+v[0-9]+\.4s' || {
            echo "# $object has no fused multiply-add of vectors"
            return 1
        }
    done
}

# Runs one test and prints one line of TAP: skipped if the test skips all of its checks. If it fails, its output follows.
run_test() { # number, name
    local log=$folder/$2.log emulator checks
    emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
    if "$emulator" -L "/usr/$target" "$folder/tests/$2" >"$log" 2>&1; then
        checks=$(grep -cE '^ok ' "$log")
        echo "ok $1 - $2 for arm64$([ "$checks" -gt 0 ] && echo ", $checks checks" || echo " # SKIP it runs none of its checks here")"
    else
        echo "not ok $1 - $2 for arm64"
        sed 's/^/# /' "$log"
    fi
}
export -f run_test
export folder target

run_tests() { # names
    local status=0 result
    build_tests "$@"
    # TAP output of cmocka states the number of checks.
    export CMOCKA_MESSAGE_OUTPUT=TAP
    result=$(printf '%s\n' "$@" | nl -w1 -s' ' | xargs -P "$(nproc)" -L1 bash -c 'run_test "$@"' run_test)
    echo "$result"
    ! grep -q '^not ok' <<<"$result" || status=1
    if products_are_neon; then
        echo "ok $(($# + 1)) - sums of products use NEON"
    else
        echo "not ok $(($# + 1)) - sums of products use NEON"
        status=1
    fi
    echo "1..$(($# + 1))"
    return $status
}

case "${1:-}" in
libraries)
    fetch_libraries
    ;;
missing)
    missing
    ;;
run)
    shift
    lacking=$(missing)
    [ -z "$lacking" ] || {
        echo "arm64: $lacking; make deps-ci installs it" >&2
        exit 3
    }
    run_tests "$@"
    ;;
*)
    echo "usage: arm64.sh libraries|missing|run NAME.." >&2
    exit 2
    ;;
esac
