#!/usr/bin/env bash
# Packs runs as an archive whose figures gnuplot can redraw without scalebench: ci/artifact.sh FILE.tar.gz [RUN...]
# Without RUN it packs every run of `scalebench list runs`.
# The archive has, for each run: tables, spec, networks, manifest, figures, and the files from which gnuplot draws the
# figures. redraw.sh draws them again and compares all files with their checksums. The same runs give the same
# archive, byte for byte. BUILD is the build folder, OUT (results) the folder of all results.
set -eu
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"
cd "$(dirname "$0")/.."
# shellcheck source=ci/files.sh
. ci/files.sh
scalebench=${BUILD:-build}/scalebench
out=${OUT:-results}
[ $# -ge 1 ] || {
    echo "usage: ci/artifact.sh FILE.tar.gz [RUN...]" >&2
    exit 2
}
archive=$1
shift
runs=("$@")
[ $# -gt 0 ] || mapfile -t runs < <(SCALEBENCH_OUT=$out "$scalebench" list runs)
[ -d "$(dirname "$archive")" ] || {
    echo "artifact: $archive: folder $(dirname "$archive") not found" >&2
    exit 2
}
stage=$(mktemp -d)
scratch=$(mktemp -d)
trap 'rm -rf "$stage" "$scratch"' EXIT
name=$(basename "$archive")
for suffix in .gz .tgz .tar; do name=${name%"$suffix"}; done
root=$stage/${name#.}
mkdir -p "$root/plots"
cp LICENSE "$root"/
cp -r plots/*.gp plots/panels "$root/plots"

# Finds a run as compare/operand.c does.
folder_of() { # run
    local path
    for path in "$1" "$1/latest" "$out/$1/latest" "results/reference/$1"; do
        if [ -f "$path/spec.yaml" ]; then
            (cd "$path" && pwd -P)
            return
        fi
    done
    echo "artifact: '$1' is not a run: expected a folder with spec.yaml, a campaign's folder with latest/, or a name in $out or results/reference" >&2
    return 1
}

# Reads a text of the manifest, which has one per line.
fact() { # folder, name
    sed -n "s/^ *\"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" "$1/manifest.json" 2>/dev/null | head -n 1
}

# Returns the name of a run as on the page: its campaign's, or its folder's if it is elsewhere; numbered if it occurs twice.
name_of() { # folder
    local base parent=${1%/*} n=1
    base=$(sed -n 's/^name: "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$1/spec.yaml" | head -n 1)
    [ "$base" = "${parent##*/}" ] || base=${1##*/}
    base=$(tr -c '[:alnum:]_\n' '-' <<<"$base")
    while [ -e "$root/$base$([ "$n" -eq 1 ] || echo "-$n")" ]; do n=$((n + 1)); done
    echo "$base$([ "$n" -eq 1 ] || echo "-$n")"
}

# Draws the figures from the copies, so that the packed files are complete.
pack() { # run
    local from to part
    from=$(folder_of "$1")
    to=$root/$(name_of "$from")
    mkdir "$to"
    for part in spec.yaml manifest.json summary.md models published; do
        [ ! -e "$from/$part" ] || cp -rL "$from/$part" "$to"
    done
    # Without networks of its own the run used those of configs/models.
    grep -o 'models/[[:alnum:]_]*\.yaml' "$to/spec.yaml" | sort -u | while read -r part; do
        [ -f "$to/$part" ] || { mkdir -p "$to/models" && cp "configs/$part" "$to/models"; }
    done
    # Published numbers come from results/published.
    grep -o 'published/[[:alnum:]_]*\.csv' "$to/spec.yaml" | sort -u | while read -r part; do
        [ -f "$to/$part" ] || { mkdir -p "$to/published" && cp "results/$part" "$to/published"; }
    done
    find "$from" -maxdepth 1 -name '*.csv' ! -name 'series_*' ! -name 'dots_*' -exec cp -t "$to" {} +
    grep -qx 'figures: \[\]' "$to/spec.yaml" || # tables alone
        "$scalebench" figures "$to" --output "$to" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; return 1; }
    rm -f "$to"/*.pdf
    started=$(printf '%s\n%s\n' "$started" "$(fact "$from" started)" | sort | tail -n 1)
}

write_citation() {
    local version
    version=$("$scalebench" --version | cut -d ' ' -f 2)
    cat >"$root/CITATION.cff" <<END
cff-version: 1.2.0
message: If you use these measurements, please cite them as below.
type: dataset
title: "Measurements by scalebench: $(cd "$root" && printf '%s\n' */spec.yaml | sed 's#/.*##' | paste -sd, | sed 's/,/, /g')"
authors:
  - name: "$(sed -n 's/^Copyright (c) [0-9]* //p' LICENSE)"
version: "$version"
license: $(head -n 1 LICENSE | cut -d ' ' -f 1)
${started:+date-released: ${started%%T*}
}
END
    sed -i '/^$/d' "$root/CITATION.cff"
}

write_redraw() {
    cat >"$root/redraw.sh" <<'END'
#!/bin/sh
# Draws every figure again with gnuplot alone, then compares all files, the pictures among them, with SHA256SUMS.
# PNG files contain text in this machine's fonts and may differ elsewhere; SVG files do not.
set -eu
cd "$(dirname "$0")"
for script in */*.gp; do
    case $script in plots/*) continue ;; esac
    rm -f "${script%.gp}.svg" "${script%.gp}.png"
    (cd "${script%/*}" && gnuplot -d "${script##*/}" 2>messages || { echo "${script##*/}: $(while read -r line; do echo "$line"; done <messages)" >&2; exit 1; })
    rm -f "${script%.gp}.pdf" "${script%/*}/messages"
done
exec sha256sum --check --quiet SHA256SUMS
END
    chmod +x "$root/redraw.sh"
}

write_readme() {
    cat >"$root/README.md" <<END
# Measurements by scalebench

A folder a run: \`summary.csv\` (a row a point), \`raw.csv\` (a row a launch) and other tables, \`spec.yaml\` (every option as
it was), \`models/\`, \`manifest.json\` (machine, versions, command), \`summary.md\`; each figure as SVG and PNG, its numbers in
\`series_<figure>.csv\`, its caption in \`<figure>.txt\`. \`sh redraw.sh\` draws the figures again, with gnuplot alone
(these: $(gnuplot --version)), and compares them with \`SHA256SUMS\`.
END
}

started=
for run in "${runs[@]}"; do
    pack "$run"
done
write_citation
write_redraw
write_readme
(cd "$root" && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum) >"$scratch/sums"
mv "$scratch/sums" "$root/SHA256SUMS"
pack_folder "$root" "$archive" --mtime=@0 --mode=u+rwX,go+rX,go-w
echo "$archive: ${#runs[@]} runs, $(find "$root" -name '*.svg' | wc -l) figures"
