#!/usr/bin/env bash
# Tests that tests ignore the results, home and environment of their user. Scripts that name committed runs must pass in a
# copy of the checkout in which runs of these names, data, cache and variables are decoys. .ci/run plants the same decoys
# and runs the whole first tier among them.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh
. ci/files.sh
# shellcheck source=bench/tests/lib/decoys.sh
. bench/tests/lib/decoys.sh
copy=$tmp/copy

# Copies the sources and the built programs.
copy_checkout() {
    mkdir -p "$copy/build"
    source_files -z | xargs -0 cp -P --parents -t "$copy" &&
        find "$build" -maxdepth 1 -type f -perm -u+x -exec cp -t "$copy/build" {} +
}

passes() { # script
    (cd "$copy" && among_decoys "$tmp/elsewhere" env -u SCALEBENCH_OWN -u SCALEBENCH_REAL_DATA \
        SCALEBENCH_BUILD="$copy/build" SCALEBENCH_DATA="$copy/data" "$1")
}

if ! command -v python3 >/dev/null; then
    lacks "scripts in a checkout full of decoys" python3
    finish
fi
check "a copy of the checkout" copy_checkout
check "decoys of every committed run, of data and settings" plant_decoys "$copy" "$tmp/elsewhere"

decoy_is_seen() {
    expect 1 "slower" "$copy/build/scalebench" compare results/reference/strong_scaling "$copy/results/strong_scaling/latest"
}
check "a decoy is a run, and slower" decoy_is_seen

for script in bench/tests/{compare,readme}.sh; do
    check "$script passes beside decoys" passes "$script"
done
finish
