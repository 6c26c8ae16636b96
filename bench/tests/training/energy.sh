#!/usr/bin/env bash
# Tests energy and price of a campaign: columns are empty on a machine without powercap, have values on one with two packages,
# and follow the price of the site's file.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/small.yaml" <<'END_SPEC'
name: small
model: softmax_784
data: {set: digits, samples: 2000}
train: {global_batch: 100}
ranks: 2
place: {oversubscribe: allow}
inject: {kind: fixed, sleep: 5ms}  # so long that the counters move
measure: {time: {warmup_steps: 2, steps: 200, launches: 2..2}}
figures: [time]
END_SPEC

# Prints a column of a CSV file's first row. Cells before it have no comma.
value() { # file, column
    awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at[column]; exit }' \
        <(sed 's/"[^"]*"//g' "$tmp/results/small/latest/$1")
}

# Prints the energy that each rank of the first launch recorded.
energy_of_ranks() {
    local rank
    for rank in 0 1; do
        grep -h '"type":"end"' "$tmp/results/small/latest/$(value raw.csv launch)/rank.$rank.jsonl" |
            grep -o '"energy_j":[^,}]*'
    done
}

# Runs a command with a /sys/class that holds nothing but artificial packages.
in_tree() { # number of packages, command
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare "${own[@]}" bash -c '
        mount -t tmpfs tmpfs /sys/class && mkdir /sys/class/powercap || exit 1
        for ((i = 0; i < $1; i++)); do
            zone=/sys/class/powercap/intel-rapl:$i
            mkdir "$zone" "$zone:0"
            echo "package-$i" >"$zone/name"
            echo dram >"$zone:0/name"
            echo 262143328850 >"$zone/max_energy_range_uj"
            echo 000001000000 >"$zone/energy_uj"
        done
        # Counters rise by 1 and 2 J every few milliseconds. Opened without truncating, so that no reader finds an empty file.
        while [ "$1" -gt 0 ] && kill -0 $$; do
            n=$((${n:-0} + 1))
            for ((i = 0; i < $1; i++)); do
                printf "%012d" $((n * (i + 1) * 1000000)) 1<>"/sys/class/powercap/intel-rapl:$i/energy_uj"
            done
            sleep 0.005
        done &
        counter=$!
        shift
        "$@"
        status=$?
        kill "$counter" 2>/dev/null
        exit "$status"' bash "$@"
}

run_in_tree() { # number of packages, options
    local packages=$1
    shift
    in_tree "$packages" "$scalebench" run "$tmp/small.yaml" --out "$tmp/results" --fresh "$@"
}

is_empty_without_packages() {
    run_in_tree 0 || return 1
    local column
    for column in energy_step_j energy_epoch_j images_per_j; do
        [ -z "$(value raw.csv "$column")$(value summary.csv "$column")" ] || return 1
    done
    [ -n "$(value summary.csv step_ms_median)" ] && [ -z "$(value summary.csv epoch_price)" ] &&
        ! energy_of_ranks | grep '[0-9]'
}

# The data have 20 batches of 100 images. Rank 1 records no energy, since rank 0 measures all packages of the node.
is_known_with_two_packages() {
    run_in_tree 2 || return 1
    energy_of_ranks
    [ "$(energy_of_ranks | grep -c '[0-9]')" -eq 1 ] || return 1
    awk -v step="$(value raw.csv energy_step_j)" -v epoch="$(value raw.csv energy_epoch_j)" \
        -v images="$(value raw.csv images_per_j)" -v lo="$(value summary.csv energy_step_j_lo)" \
        -v mid="$(value summary.csv energy_step_j)" -v hi="$(value summary.csv energy_step_j_hi)" 'BEGIN {
            print step, epoch, images, lo, mid, hi
            near = epoch / step / 20 - 1; inverse = images * step / 100 - 1
            exit !(step > 0 && near ^ 2 < 1e-6 && inverse ^ 2 < 1e-6 && lo <= mid && mid <= hi) }'
}

# An epoch of 2000 images on two cores.
price_follows_the_spec() {
    "$scalebench" figures "$tmp/results/small/latest" --set "site.price_per_core_hour=$1" || return 1
    awk -v price="$(value summary.csv epoch_price)" -v images="$(value summary.csv images_per_money)" \
        -v epoch_s="$(value summary.csv epoch_timed_s)" -v per="$1" 'BEGIN {
            print price, images, epoch_s
            off = price / (2 * epoch_s / 3600 * per) - 1; inverse = price * images / 2000 - 1
            exit !(off ^ 2 < 1e-6 && inverse ^ 2 < 1e-6) }'
}

site_files_have_the_price() {
    printf 'nodes: 1\ncores: 2\nprice_per_core_hour: 0.04\n' >"$tmp/priced.yaml"
    expect 0 "site.price_per_core_hour=0.04" "$scalebench" submit "$tmp/small.yaml" --site "$tmp/priced.yaml" \
        --out "$tmp/jobs" --dry-run
}

explains() { # column, text
    expect 0 "$2" "$scalebench" explain "$1"
}

check "explain says that energy includes idle power" explains energy_step_j "Includes the packages' idle power"
check "explain knows images per joule" explains images_per_j "unit     images/J"
check "explain knows the price of an epoch" explains epoch_price "site.price_per_core_hour"
check "a job has the price of its site's file" site_files_have_the_price

own=(-m)
unshare -m true 2>/dev/null || own=(-Urm)
if ! unshare "${own[@]}" sh -c 'mount -t tmpfs tmpfs /sys/class' 2>/dev/null; then
    skip "energy in an artificial /sys/class" "unshare cannot mount"
    finish
fi
check "columns are empty without powercap" is_empty_without_packages
check "two packages give joules per step and epoch, and images per joule" is_known_with_two_packages
check "figures --set gives a finished run a price" price_follows_the_spec 0.04
check "another price replaces it" price_follows_the_spec 3
finish
