#!/usr/bin/env bash
# Tests `make dist`: the archive builds, runs, tests and packs itself in a folder without git, and knows its revision.
# tier: rest
# cores: 2
# seconds: 60
set -u
. bench/tests/lib/tap.sh
. ci/files.sh

if grep -qE '__asan_init|__ubsan_handle|__tsan_init' "$train_cnn"; then
    skip "an archive of the sources" "its objects are those of a build without sanitizers"
    finish
    exit
fi

pack() { # folder
    (BUILD=$build ci/dist.sh "$1")
}

is_packed() {
    local version
    version=$("$scalebench" --version | cut -d ' ' -f 2)
    archive=$tmp/one/scalebench-$version.tar.gz
    expect 0 "$archive" pack "$tmp/one" && pack "$tmp/two" && cmp "$archive" "$tmp/two/${archive##*/}" || return 1
    [ "$(stat -c %s "$archive")" -le $((64 << 20)) ] && tar -xzf "$archive" -C "$tmp" &&
        sources=$tmp/scalebench-$version && [ ! -e "$sources/.git" ] || return 1
    grep -qx "version: \"$version\"" "$sources/CITATION.cff"
}
check "the same sources give the same archive" is_packed

# The archive has every file of the clone, and its scripts list the same files without a repository.
has_every_file() {
    source_files | LC_ALL=C sort >"$tmp/here" && [ "$(wc -l <"$tmp/here")" -gt 2000 ] &&
        (cd "$sources" && source_files | grep -vx revision | LC_ALL=C sort) | diff "$tmp/here" -
}
check "the archive has every file" has_every_file

# Makes the sources older than the objects of this build, so that make links alone. The objects' dependencies name every
# header, so that a missing file is an error.
copy_objects() {
    find "$sources" -type f -exec touch -d @1 {} + && mkdir "$sources/build" && cp -a "$build/obj" "$build/flags" "$build/linked" "$sources/build"
}

in_sources() { # command
    (cd "$sources" && env -u MAKEFLAGS -u MAKELEVEL -u SCALEBENCH_OUT "$@")
}

builds() {
    copy_objects && in_sources make -s all FLAGS_NOW="$(cat "$build/flags")"
}
check "make all" builds

# A repository around the archive's folder is of other sources.
knows_its_revision() {
    local version
    git -C "$tmp" init -q && version=$("$scalebench" --version) || return 1
    [ "$(in_sources build/scalebench --version)" = "$version" ]
}
check "the archive knows its revision inside another repository" knows_its_revision

plans_and_runs() {
    expect 0 "3 points" in_sources build/scalebench plan strong_scaling --set "matrix.ranks=[1,2]" &&
        expect 0 "results/quick/latest/" in_sources build/scalebench run quick.yaml --set "matrix.ranks=[1,2]
            measure.time={launches: 1..1, steps: 2, warmup_steps: 1} measure.accuracy.seeds=[] place.oversubscribe=allow data.samples=1000" &&
        grep -qF "\"revision\": \"$("$scalebench" --version | sed 's/.*(\(.*\))/\1/')\"" "$sources/results/quick/latest/manifest.json"
}
check "a plan and a campaign of the archive" plans_and_runs

# Tests that list the sources.
passes() { # script
    in_sources env -u SCALEBENCH_OWN SCALEBENCH_BUILD="$sources/build" "bench/tests/commands/$1.sh"
}
for script in scripts man; do
    check "$script.sh passes there" passes "$script"
done

packs_itself() {
    (cd "$sources" && BUILD=build ci/dist.sh "$tmp/again") &&
        tar -tzf "$archive" | diff - <(tar -tzf "$tmp/again/${archive##*/}")
}
check "the archive packs itself" packs_itself

# A change in a clone is dirty already; so the archive's own word is set here.
says_what_changed() {
    sed -i '1s/.*/1a2b3c4 clean/' "$sources/revision" && expect 0 "(1a2b3c4 clean)" in_sources build/scalebench --version &&
        echo >>"$sources/Makefile" && expect 0 "(1a2b3c4 dirty)" in_sources build/scalebench --version &&
        rm "$sources/Makefile" && expect 0 "(1a2b3c4 dirty)" in_sources build/scalebench --version
}
check "changed or missing sources make the revision dirty" says_what_changed

says_that_it_does_not_know() {
    rm -r "$sources/revision" "$tmp/.git" && expect 0 "(unknown revision)" in_sources build/scalebench --version
}
check "without the file the revision is unknown" says_that_it_does_not_know
finish
