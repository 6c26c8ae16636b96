#!/usr/bin/env bash
# Tests `make install`: an installed scalebench finds its files from any folder, also for a user who cannot write there.
# tier: rest
# cores: 2
# seconds: 40
set -u
. bench/tests/lib/tap.sh

prefix=$tmp/usr
there=$tmp/there
programs=$(find "$build" -maxdepth 1 -type f -perm -u+x ! -name '*_f64' -printf "$build/%f ")
mkdir "$there"

install() { # DESTDIR, PREFIX, remove
    BUILD=$build PROGRAMS=$programs DESTDIR=$1 PREFIX=$2 ci/install.sh "${@:3}"
}

# Runs the installed scalebench in a folder that has nothing of it. Root becomes nobody, who cannot write to the prefix.
there() { # arguments of scalebench
    local as=()
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    (cd "$there" && "${as[@]}" env -u SCALEBENCH_OUT -u SCALEBENCH_DATA HOME=/nowhere SCALEBENCH_CACHE="$there/cache" \
        SCALEBENCH_LOCKS="$there/locks" "$prefix/bin/scalebench" "$@")
}

is_installed() {
    expect 0 "$prefix/bin/scalebench" install "" "$prefix" || return 1
    rm -rf "$prefix/lib/scalebench/data" # the checkout's data, which may be real, missing or decoys
    chmod 755 "$tmp" && [ -z "$(find "$prefix" ! -type l ! -perm -o=r)" ] || return 1
    grep -q 'SCALEBENCH 1' "$prefix/share/man/man1/scalebench.1" &&
        grep -q '^complete ' "$prefix/share/bash-completion/completions/scalebench" &&
        grep -q '^complete ' "$prefix/share/fish/vendor_completions.d/scalebench.fish"
}
check "make install installs programs, man page and completions" is_installed
[ "$(id -u)" -ne 0 ] || chown 65534 "$there"

version_is_the_same() {
    expect 0 "$("$scalebench" --version)" there --version
}
check "the installed program knows version and revision" version_is_the_same

# Reads networks, plot scripts, published numbers and committed runs.
runs_there() {
    expect 0 "results/strong_scaling/latest/{summary" there run strong_scaling.yaml --set "matrix.ranks=[1,2] place.oversubscribe=allow
        measure.time={launches: 1..1, steps: 3, warmup_steps: 1} measure.accuracy.seeds=[] data.samples=2000" &&
        [ -s "$there/results/strong_scaling/latest/speedup.svg" ] || return 1
    grep -F "mnist not found, so generated images were used. \`$prefix/lib/scalebench/ci/data.sh --to data mnist\`" "$tmp/expect.log"
}
if command -v gnuplot >/dev/null; then
    check "a campaign of the installed specs runs in any folder" runs_there
else
    lacks "a campaign of the installed specs" gnuplot
fi

reads_its_files() {
    expect 0 "All 144 claims" there claims && expect 0 "conv1" there model lenet_21k &&
        expect 0 "results/reference/strong_scaling" there list runs &&
        expect 0 "mine.yaml is written" there new mine && expect 0 "3 points" there plan mine.yaml &&
        expect 0 "same" there compare strong_scaling strong_scaling &&
        expect 0 "" there report strong_scaling && [ -s "$there/report.html" ]
}
check "claims, networks, committed runs and the page are found in any folder" reads_its_files

says_where_data_goes() {
    mkdir "$tmp/none" && expect 1 "$there/mine/mnist/" env -C "$there" SCALEBENCH_MIRROR="file://$tmp/none" \
        "$prefix/lib/scalebench/ci/data.sh" --to mine mnist
}
if command -v curl >/dev/null; then
    check "the installed download writes below the caller's folder" says_where_data_goes
else
    lacks "the installed download" curl
fi

zsh_completes() {
    # shellcheck disable=SC2016 # zsh's own
    zsh -fc '
        fpath=($1 $fpath)
        autoload -Uz compinit && compinit -D -u
        [ "$_comps[scalebench]" = _scalebench ] || exit
        compadd() { print -l -- ${(P)@[-1]}; }
        words=($2 list strat) CURRENT=3
        _scalebench' zsh "$prefix/share/zsh/site-functions" "$prefix/bin/scalebench" >"$tmp/offered"
    [ "$(cat "$tmp/offered")" = strategies ] || { cat "$tmp/offered"; return 1; }
}
if command -v zsh >/dev/null; then
    check "zsh loads the completion by itself" zsh_completes
else
    lacks "what zsh loads" zsh
fi

# A package of a distribution is staged below DESTDIR and installed elsewhere.
is_staged() {
    install "$tmp/stage" /opt/some && mkdir "$tmp/moved" && mv "$tmp/stage/opt" "$tmp/moved" || return 1
    (cd / && expect 0 "lenet_21k" "$tmp/moved/opt/some/bin/scalebench" list models)
}
check "DESTDIR stages the files, which work wherever they are put" is_staged

is_gone() {
    touch "$prefix/bin/other" && install "" "$prefix" remove && [ "$(find "$prefix" ! -type d)" = "$prefix/bin/other" ]
}
check "make uninstall removes all files and no others" is_gone
finish
