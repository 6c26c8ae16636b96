#!/usr/bin/env bash
# Tests the archive of runs: its contents, and that gnuplot alone draws the same figures from it.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh
archive=$tmp/art.tar.gz

packs() {
    BUILD=$build OUT=$tmp/none expect 0 "2 runs, 3 figures" ci/artifact.sh "$archive" overlap results/reference/peer_vgg &&
        tar xzf "$archive" -C "$tmp"
}

packs_the_same() {
    BUILD=$build OUT=$tmp/none ci/artifact.sh "$tmp/again/art.tar.gz" overlap peer_vgg && cmp "$archive" "$tmp/again/art.tar.gz"
}

has_all() {
    local run file
    for run in overlap peer_vgg; do
        for file in spec.yaml manifest.json summary.csv raw.csv models/vgg11_bn.yaml; do
            [ -s "$tmp/art/$run/$file" ] || { echo "no $run/$file"; return 1; }
        done
        cmp "$tmp/art/$run/summary.csv" "results/reference/$run/summary.csv" || return 1
    done
    for file in results/reference/{overlap,peer_vgg}/*.svg; do
        cmp "$file" "$tmp/art/${file#results/reference/}" || return 1
    done
    (cd "$tmp/art" && sha256sum --check --quiet SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = "$(find . -type f ! -name SHA256SUMS | wc -l)" ]) &&
        grep -qx 'type: dataset' "$tmp/art/CITATION.cff" && grep -qx 'date-released: 20[0-9-]*' "$tmp/art/CITATION.cff"
}

# Makes a root with gnuplot, a shell, the programs of the script, their libraries and fonts.
make_root() { # folder
    local program path library
    mkdir -p "$1"/{bin,tmp,etc,usr/share}
    for program in sh gnuplot sha256sum rm dirname; do
        path=$(readlink -f "$(command -v "$program")")
        cp "$path" "$1/bin/$program"
        for library in $(ldd "$path" | grep -o '/[^ ]*'); do
            mkdir -p "$1$(dirname "$library")"
            cp -n "$(readlink -f "$library")" "$1$library"
        done
    done
    cp -r /etc/fonts "$1/etc"
    for path in fonts fontconfig gnuplot; do
        [ ! -d "/usr/share/$path" ] || cp -r "/usr/share/$path" "$1/usr/share"
    done
}

draws_alone() {
    make_root "$tmp/root"
    cp -r "$tmp/art" "$tmp/root/art"
    find "$tmp/root/art" \( -name '*.svg' -o -name '*.png' \) -delete
    chroot "$tmp/root" /bin/sh /art/redraw.sh || return 1
    diff -r "$tmp/art" "$tmp/root/art"
}

draws() {
    cp -r "$tmp/art" "$tmp/drawn"
    find "$tmp/drawn" \( -name '*.svg' -o -name '*.png' \) -delete
    sh "$tmp/drawn/redraw.sh" && diff -r "$tmp/art" "$tmp/drawn"
}

# If one cell is changed, both its table and its figure are reported.
notices() {
    sed -i '2s/,\([0-9]\)\([0-9]*\)\./,9\1\2./' "$tmp/drawn/overlap/series_overlap.csv"
    expect 1 "overlap/overlap.svg: FAILED" sh "$tmp/drawn/redraw.sh"
}

refuses() {
    BUILD=$build expect 1 "'nothing' is not a run" ci/artifact.sh "$tmp/none.tar.gz" nothing &&
        expect 2 "usage:" ci/artifact.sh && [ ! -e "$tmp/none.tar.gz" ] &&
        BUILD=$build expect 2 "folder $tmp/nowhere not found" ci/artifact.sh "$tmp/nowhere/some.tar.gz" peer_vgg
}

packs_tables_alone() {
    mkdir -p "$tmp/results/plain" && cp -r results/reference/peer_vgg "$tmp/results/plain/latest" &&
        rm -f "$tmp"/results/plain/latest/*.svg &&
        sed -i 's/^figures: .*/figures: []/' "$tmp/results/plain/latest/spec.yaml" || return 1
    BUILD=$build OUT=$tmp/results expect 0 "1 runs, 0 figures" ci/artifact.sh "$tmp/.plain.v1.tar.gz" plain &&
        tar tzf "$tmp/.plain.v1.tar.gz" | grep 'plain.v1/[^/]*/summary.csv'
}

mkdir "$tmp/again"
check "two runs are packed" packs
check "the same runs make the same archive" packs_the_same
check "tables, specs, networks, manifests, checksums, citation are in it" has_all
check "redraw.sh draws the same SVG and PNG" draws
check "a changed cell is noticed" notices
if [ "$(id -u)" -eq 0 ]; then
    check "the artifact draws its figures in a root with gnuplot alone, too" draws_alone
else
    skip "the artifact draws its figures in a root with gnuplot alone, too" "chroot needs root"
fi
check "a run that asks for no figure is packed, too" packs_tables_alone
check "an operand that is not a run is refused" refuses
finish
