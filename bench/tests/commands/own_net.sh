#!/usr/bin/env bash
# Tests a network file beside its spec: how it is found, that a run keeps a copy, and which files an unpacked run needs.
# cores: 1
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

own=$tmp/own own_out=$tmp/own-results
own_net() { # outputs of the hidden layer
    printf 'name: mine\ninput: [1, 28, 28]\nclasses: 10\nlayers:\n  - dense: {outputs: %s}\n' "$1"
    printf '  - relu\n  - dense: {outputs: 10}\n'
}

own_run() { # arguments
    (cd "$tmp" && "$bin/scalebench" run "$own/own.yaml" --out "$own_out" "$@")
}

# The network is named beside the spec and run from elsewhere; launches read the copy.
runs_a_net_beside_the_spec() {
    mkdir -p "$own/nets"
    own_net 20 >"$own/nets/net.yaml"
    printf 'ranks,seconds\n2,0.05\n' >"$own/theirs.csv"
    sed -e 's|^model:.*|model: nets/net.yaml|; s|^name:.*|name: own|; s|^figures:.*|figures: [time]|' \
        -e '$a published: {file: theirs.csv, values: [step_ms_median = seconds * 1000]}' \
        "$tmp/fake.yaml" >"$own/own.yaml"
    expect 0 "own" own_run || return 1
    local run
    run=$(cd "$own_out/own/latest" && pwd -P)
    cmp "$own/nets/net.yaml" "$run/models/net.yaml" && cmp "$own/theirs.csv" "$run/published/theirs.csv" &&
        grep -q '^model: "models/net.yaml"' "$run/spec.yaml" &&
        grep -q -- "--model=$run/models/net.yaml" "$run"/launches/*/time-000/command.txt
}

# Earlier launches keep the file that they used.
another_net_at_the_same_place_is_another_point() {
    local run both=(--set "matrix.model=[nets/net.yaml,softmax_784]")
    expect 0 "own" own_run "${both[@]}" || return 1
    own_net 30 >"$own/nets/net.yaml"
    expect 0 "launches of 2 points that this spec does not contain" own_run "${both[@]}" || return 1
    [ "$(find "$own_out/own" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 1 ] || return 1
    run=$(cd "$own_out/own/latest" && pwd -P)
    cmp "$own/nets/net.yaml" "$run"/models/*/net.yaml && ! cmp -s "$own/nets/net.yaml" "$run/models/net.yaml" &&
        expect 0 "net " "$bin/scalebench" table "$run"
}

# Unpacked in an empty folder, the run is redrawn and run again.
an_unpacked_run_stands_for_itself() {
    local away=$tmp/away
    cp -r "$(cd "$own_out/own/latest" && pwd -P)" "$away" || return 1
    rm -rf "$own" "$own_out" "$away"/time.* "$away/summary.md"
    expect 0 "time.svg" "$bin/scalebench" figures "$away" || return 1
    grep -q "published step" "$away/summary.md" || return 1
    expect 0 "own" "$bin/scalebench" run "$away/spec.yaml" --out "$own_out" || return 1
    rm -rf "$away/launches" "$away"/time.*
    expect 0 "time.svg" "$bin/scalebench" figures "$away"
}

check "a net beside its spec is found, and kept by the run" runs_a_net_beside_the_spec
check "another net at the same path is another point" another_net_at_the_same_place_is_another_point
check "an unpacked run is redrawn and run again" an_unpacked_run_stands_for_itself
finish
