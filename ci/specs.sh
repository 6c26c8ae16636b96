# shellcheck shell=bash
# Sourced by what measures the specs of the reports: which looks at whose campaign.

# The spec whose campaign a spec of the reports looks at, "kota/parts" of "kota/fig8"; "" where it has its own, which a
# name of its own says.
viewed() { # name
    grep -q '^name:' "configs/reports/$1.yaml" ||
        sed -n "s#^extends: *\([^/]*\)[.]yaml\$#${1%/*}/\1#p" "configs/reports/$1.yaml"
}
