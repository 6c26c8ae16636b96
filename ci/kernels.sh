#!/usr/bin/env bash
# Times every op and layer of the networks, compares them with the reference plan, and draws them under
# the roof of one core: OUT/kernels/kernels.csv and roofline.{svg,png,pdf}, and what the table's columns
# mean: columns.csv; manifest.json tells command, machine and commit. Arguments are those of kernel_sweep; BUILD is the
# build folder, OUT that of all results. Exit status 1: a result is wrong.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
[[ " $* " != *" --help "* ]] || exec "$build/kernel_sweep" --help
folder=${OUT:-results}/kernels
csv=$folder/kernels.csv
mkdir -p "$folder"
# shellcheck source=ci/manifest.sh
. ci/manifest.sh
write_manifest make bench-kernels "SWEEP=$*" >"$folder/manifest.json.part"

status=0
"$build/kernel_sweep" "$@" >"$csv.part" || status=$?
[ "$status" -le 1 ] || {
    rm -f "$csv.part" "$folder/manifest.json.part"
    exit "$status"
}
mv "$csv.part" "$csv"
mv "$folder/manifest.json.part" "$folder/manifest.json"

"$build/kernel_sweep" --columns >"$folder/columns.csv"
"$build/scalebench" figures "$csv" >/dev/null || echo "$csv: not drawn" >&2
"$build/scalebench" table "$csv" || true
echo "$folder: kernels.csv columns.csv manifest.json roofline.svg"
exit "$status"
