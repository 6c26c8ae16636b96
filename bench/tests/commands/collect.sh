#!/usr/bin/env bash
# Tests scalebench collect: runs in folders and in an archive of `make artifact` are filed by class of hardware and drawn together.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

export SCALEBENCH_HOME=$PWD
out=$tmp/results received=$tmp/received
campaign=$out/collected/strong_scaling

collect() { "$scalebench" collect "$@" --out "$out"; }

# Writes a copy of the committed run as another machine would have measured it.
run_of() { # folder, class of hardware, day
    mkdir -p "$(dirname "$1")" && cp -r results/reference/strong_scaling "$1" &&
        sed -i "s|\"machine\": \".*\"|\"machine\": \"$2\"|; s|\"started\": \"[0-9-]*T|\"started\": \"$3T|" "$1/manifest.json"
}

class() { # processor, second cache
    echo "$1, caches 32K 32K $2 32768K, cores 2 (usable 2, of the machine 2, quota 0), hardware threads 2, NUMA nodes 1"
}

# The archive has another run than the folder.
files_by_class() {
    run_of "$received/theirs/one" "$(class "AMD EPYC" 1024K)" 2026-01-01 && run_of "$received/theirs/two" "$(class "AMD EPYC" 1024K)" 2026-01-02 &&
        run_of "$tmp/packed" "$(class "Intel Xeon" 2048K)" 2026-01-03 || return 1
    BUILD=$build OUT=$tmp/none ci/artifact.sh "$received/art.tar.gz" "$tmp/packed" || return 1
    expect 0 "$received/theirs/one: filed as $campaign/AMD-EPYC-2-cores-" collect "$received" || return 1
    grep -q "^$received/art.tar.gz:.*/packed: filed as $campaign/Intel-Xeon-2-cores-.*/20260103T" "$tmp/expect.log" || return 1
    grep -qx "strong_scaling: 2 classes of hardware, drawn in $campaign/figures" "$tmp/expect.log" || return 1
    [ "$(find "$campaign" -name summary.csv | wc -l)" -eq 3 ] && [ "$(find "$campaign" -name '*.part' | wc -l)" -eq 0 ] &&
        [ "$(find "$out/collected" -mindepth 3 -maxdepth 3 -type d | wc -l)" -eq 3 ]
}
check "runs of folders and archives are filed by class of hardware" files_by_class

draws_one_curve_per_class() {
    local name
    [ -s "$campaign/figures/time.svg" ] || return 1
    for name in "AMD EPYC" "Intel Xeon"; do
        [ "$(grep -c "\"$name, 2 cores, allreduce\"" "$campaign/figures/series_time.csv")" -eq 1 ] || return 1
    done
    # the caption names both
    grep -q "AMD EPYC, 2 cores: .*Intel Xeon, 2 cores: " "$campaign/figures/time.txt"
}
check "figures have one curve per class and strategy" draws_one_curve_per_class

keeps_what_is_filed() {
    local summary
    summary=$(find "$campaign" -path '*20260101T*' -name summary.csv) && echo changed >>"$summary" && cp "$summary" "$tmp/kept" || return 1
    expect 0 "$received/theirs/one: already filed as ${summary%/*}" collect "$received/theirs/one" || return 1
    cmp "$summary" "$tmp/kept"
}
check "a filed run is not overwritten" keeps_what_is_filed

# Two classes whose processors and cores have equal names differ by their caches.
tells_classes_apart() {
    run_of "$tmp/third" "$(class "AMD EPYC" 512K)" 2026-01-04 && expect 0 "3 classes of hardware, drawn" collect "$tmp/third" &&
        grep -q '"AMD EPYC, 2 cores, caches 32K 32K 512K 32768K, allreduce"' "$campaign/figures/series_time.csv"
}
check "classes with equal names are named by their caches" tells_classes_apart

refuses() {
    mkdir -p "$tmp/empty" "$tmp/half/run" && cp results/reference/strong_scaling/spec.yaml "$tmp/half/run" && echo text >"$tmp/text.tar.gz" || return 1
    expect 2 "$tmp/empty: collect: no run found; expected folders with spec.yaml" collect "$tmp/empty" || return 1
    expect 2 "$tmp/half/run: left out: summary.csv not found" collect "$tmp/half" || return 1
    cp results/reference/strong_scaling/*.csv "$tmp/half/run" || return 1
    expect 2 "left out: manifest.json with a class of hardware not found" collect "$tmp/half" || return 1
    expect 2 "$tmp/nowhere: no such folder or archive" collect "$tmp/nowhere" || return 1
    expect 2 "text.tar.gz: tar cannot extract this file" collect "$tmp/text.tar.gz" || return 1
    expect 2 "DIR... is missing" collect
}
check "a folder without a run is refused" refuses

# A class is a text of a file that somebody else wrote.
stays_below_its_folder() {
    run_of "$tmp/odd" "../../../x/y" 2026-01-05 && expect 0 "filed as $campaign/x-y-" collect "$tmp/odd"
}
check "a strange class of hardware stays below the folder" stays_below_its_folder
finish
