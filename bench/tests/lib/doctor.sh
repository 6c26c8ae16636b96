# shellcheck shell=bash
# Runs `scalebench doctor` and reads its tables. After tap.sh.
# shellcheck disable=SC2154 # $scalebench and $tmp of tap.sh

doctor() { # arguments
    "$scalebench" doctor --out "$tmp/out" "$@"
}

# Prints cells of the latest findings or links.
cells() { # file, awk program over names of columns in at[]
    awk -F, "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next } $2" "$tmp/out/doctor/latest/$1"
}
