#!/usr/bin/env bash
# Packs the sources as scalebench-VERSION.tar.gz, which builds and passes its tests without a clone: ci/dist.sh [FOLDER]
# `make dist` calls this after building scalebench. FOLDER is the build folder by default.
# The file `revision` of the archive has the revision of the sources, then the SHA-256 of each file except those of
# results/reference. scalebench reports the revision as dirty if one of these files has changed. The same commit gives
# the same archive, byte for byte. BUILD is the build folder.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"
case "$# ${1:-}" in
"0 " | "1 "[!-]*) ;;
*)
    echo "usage: ci/dist.sh [FOLDER]; see --help" >&2
    exit 2
    ;;
esac
[ $# -eq 0 ] || mkdir -p "$1"
into=$(realpath "${1:-/}")
cd "$(dirname "$0")/.."
# shellcheck source=ci/files.sh
. ci/files.sh
build=${BUILD:-build}
[ $# -gt 0 ] || into=$build
read -r _ version revision < <("$build/scalebench" --version)
revision=${revision:1:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/scalebench-$version
mkdir "$root"

[ "${revision#* }" = clean ] || echo "dist: packs these sources as they are: $revision" >&2
source_files | grep -vx revision >"$work/files"
xargs -d '\n' cp -P --parents -t "$root" <"$work/files"
{
    echo "$revision"
    grep -v '^results/reference/' "$work/files" | LC_ALL=C sort | xargs -d '\n' sha256sum
} >"$root/revision"
archive=$into/${root##*/}.tar.gz
# An unpacked archive packs itself with its own time.
if [ -e .git ]; then time=$(git log -1 --format=%ct); else time=$(stat -c %Y revision); fi
pack_folder "$root" "$archive" --mtime="@$time" --mode=u+rwX,go+rX,go-w
echo "dist: $(awk -v n="$(stat -c %s "$archive")" 'BEGIN { printf "%.1f", n / 1048576 }') MiB, $revision" >&2
echo "$archive"
