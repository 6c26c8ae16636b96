#!/usr/bin/env bash
# Installs missing packages and prints the command before it runs it: `deps.sh core` for building, measuring and testing,
# `deps.sh ci` for tests that need other programs, `deps.sh extra` for optional parts.
set -eu
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"

usage() {
    echo "usage: deps.sh core|ci|extra" >&2
    exit 2
}
[ $# -eq 1 ] || usage

core_apt="gcc make pkg-config git mpich libmpich-dev libblis-dev libhwloc-dev libyaml-dev libpcre2-dev libjansson-dev
  zlib1g-dev libmd-dev libxxhash-dev libcmocka-dev gnuplot-nox"
ci_apt="slurm-wlm munge iproute2 openssh-server curl libdnnl-dev python3-torch python3-pandas python3-jsonschema python3-yaml mandoc zsh fish r-base-core clang-format shellcheck valgrind clang libclang-rt-dev chromium"
# Packages for the kernels' tests for arm64; an arm64 machine needs none.
[ "$(uname -m)" = aarch64 ] || ci_apt="$ci_apt gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
extra_apt="clang simgrid libsimgrid-dev
  $ci_apt"

# Tests whether the libraries are at hand, from packages, modules, spack or by hand.
core_programs="${CC:-gcc} make ${PKGCONF:-pkg-config} git gnuplot"
core_libraries="yaml-0.1:YAML hwloc:HWLOC libpcre2-8:PCRE2 jansson:JANSSON zlib:ZLIB libmd:MD libxxhash:XXHASH cmocka:CMOCKA"

have() {
    command -v "$1" >/dev/null 2>&1
}

have_library() { # pkg-config name:variable
    local dir_variable="${1#*:}_DIR"
    [ -n "${!dir_variable:-}" ] || "${PKGCONF:-pkg-config}" --exists "${1%%:*}" 2>/dev/null
}

have_header() {
    echo "#include <$1>" | "${CC:-gcc}" -E -x c - >/dev/null 2>&1
}

core_complete() {
    local item
    for item in $core_programs; do
        have "$item" || return 1
    done
    for item in $core_libraries; do
        have_library "$item" || return 1
    done
    [ -n "${BLIS_DIR:-}" ] || have_header blis.h || return 1
    have mpicc.mpich || have "${MPICC:-mpicc}" || return 1
    have mpiexec.mpich || have "${MPIEXEC:-mpiexec}"
}

other_systems() {
    cat >&2 <<'TEXT'
deps: no apt-get here. The same things under other package managers:
  dnf install   gcc make pkgconf-pkg-config git mpich-devel blis-devel hwloc-devel libyaml-devel
                pcre2-devel jansson-devel zlib-devel libmd-devel xxhash-devel libcmocka-devel gnuplot
  brew install  gcc make pkg-config git mpich blis hwloc libyaml pcre2 jansson zlib libmd xxhash cmocka gnuplot
  spack install mpich blis hwloc libyaml pcre2 jansson zlib-ng libmd xxhash cmocka gnuplot
Libraries outside the usual places: make BLIS_DIR=/opt/blis HWLOC_DIR=... (include/ and lib/ below).
TEXT
    exit 1
}

missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

install_packages() {
    local missing as_root=()
    have apt-get || other_systems
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        have sudo || {
            echo "deps: missing packages: ${missing[*]}; sudo not found. Install them as root." >&2
            exit 1
        }
        as_root=(sudo)
    fi
    echo "deps: ${as_root[*]:+${as_root[*]} }apt-get install --no-install-recommends ${missing[*]}" >&2
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Some distributions keep another architecture's packages elsewhere; the tests are skipped then.
arm64_libraries() {
    [ "$(uname -m)" = aarch64 ] || "$(dirname "$0")/arm64.sh" libraries ||
        echo "deps: libraries for arm64 not found: its tests will be skipped" >&2
}

case $1 in
core)
    # shellcheck disable=SC2086 # a list of words
    core_complete || install_packages $core_apt
    core_complete || {
        echo "deps: libraries are still missing. Run make info to see those that were found." >&2
        exit 1
    }
    ;;
ci)
    # shellcheck disable=SC2086 # a list of words
    install_packages $ci_apt
    arm64_libraries
    ;;
extra)
    # shellcheck disable=SC2086 # a list of words
    install_packages $extra_apt
    arm64_libraries
    ;;
*) usage ;;
esac
