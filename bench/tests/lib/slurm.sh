# shellcheck shell=bash
# Runs campaigns as Slurm jobs in $home, a folder like a user's checkout, where jobs write their logs. Source after tap.sh.

# shellcheck disable=SC2154 # $tmp and $build of tap.sh
template=configs/sites/bench.sbatch
home=$tmp/home
unset SCALEBENCH_OUT # results lie there, too
mkdir -p "$home/configs"
ln -s "$PWD"/configs/* "$home/configs"
ln -s "$PWD/Makefile" "$PWD"/{bench,kernels,comm,ci,plots} "$home"
ln -s "$build" "$home/build"
# shellcheck disable=SC2034 # used by the tests
log=$home/scalebench-%j.log # as the template names it

# Writes the spec $tmp/NAME.yaml: a common head, then standard input.
write_spec() { # name, what follows in data, training
    {
        printf 'name: %s\nmodel: softmax_784\ndata: {set: digits%s}\ntrain: {%s}\nfigures: []\n' "${1##*/}" "$2" "$3"
        cat
    } >"$tmp/$1.yaml"
}

# Submits $script, or the template, waits for its end and prints the job's log. Returns sbatch's status; sets $number.
job() { # options of sbatch --, then what follows the script's name
    local options=() status=0
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    (cd "$home" && sbatch -W "${options[@]}" "${script:-$template}" "$@") >"$tmp/submitted" || status=$?
    number=$(sed -n 's/^Submitted batch job //p' "$tmp/submitted")
    cat "${log/\%j/$number}"
    return "$status"
}

# For columns without text, since texts with commas are quoted.
column() { # name, table
    awk -F, -v name="$1" '{ gsub(/"[^"]*"/, "quoted") } NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$2"
}
