# shellcheck shell=bash
# Sourced by scripts that measure the reports' specs: finds the campaign of a view.

# Prints the spec whose campaign a view shows, "kota/parts" for "kota/fig8"; "" for a spec with a name of its own.
viewed() { # name
    grep -q '^name:' "configs/reports/$1.yaml" ||
        sed -n "s#^extends: *\([^/]*\)[.]yaml\$#${1%/*}/\1#p" "configs/reports/$1.yaml"
}
