#!/usr/bin/env bash
# Tests data.read and data.shard: training is the same for every way to read the data, and impossible combinations are
# rejected.
# cores: 1
set -u
. bench/tests/lib/tap.sh

small=(--model configs/models/softmax_784.yaml --data.set digits --data.samples 1003
    --train.global_batch 100 --train.epochs 2 --wait yield)

# Prints the hashes of the weights after each step of the last epoch.
train_hashes() { # mode, other arguments
    local mode=$1
    shift
    "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --data.read "$mode" --record "$tmp" "$@" >&2 || return 1
    grep -o '"hash":"[0-9a-f]*"' "$tmp/rank.1.jsonl"
}

trains_the_same() { # arguments
    local mode expected found
    expected=$(train_hashes all "$@") || return 1
    [ "$(wc -l <<<"$expected")" -eq 11 ] || return 1
    for mode in scatter mpiio mpiio_collective window; do
        found=$(train_hashes "$mode" "$@") || return 1
        grep "\"data_read\":\"$mode\"" "$tmp/rank.0.jsonl" || return 1
        [ "$found" = "$expected" ] || {
            echo "data.read = $mode $*: other weights"
            return 1
        }
    done
}

# A shard is fetched once, a part of a global order in every epoch, whole data never.
fetches() { # mode, shard, number
    train_hashes "$1" --data.shard "$2" >/dev/null || return 1
    tail -n 1 "$tmp/rank.1.jsonl" | grep "\"fetches\":$3,"
}

shards_train_otherwise() {
    local global contiguous
    global=$(train_hashes all --data.shard global) || return 1
    contiguous=$(train_hashes all --data.shard contiguous) && [ "$global" != "$contiguous" ]
}

# Writes one set of images three times: plain, gzip with plain names, and gzip compressed twice.
draws_sets() {
    local python
    python=$(command -v python3) || return 1
    mkdir "$tmp/plain" "$tmp/renamed" "$tmp/twice"
    "$python" - "$tmp" <<'DRAW'
import gzip, random, struct, sys
random.seed(1)
for stem, n in (("train", 300), ("t10k", 20)):
    images = struct.pack(">IIII", 2051, n, 28, 28) + random.getrandbits(8 * n * 784).to_bytes(n * 784, "big")
    labels = struct.pack(">II", 2049, n) + bytes(i % 10 for i in range(n))
    for name, contents in ((f"{stem}-images-idx3-ubyte", images), (f"{stem}-labels-idx1-ubyte", labels)):
        once = gzip.compress(contents)
        for folder, data in (("plain", contents), ("renamed", once), ("twice", gzip.compress(once))):
            with open(f"{sys.argv[1]}/{folder}/{name}", "wb") as file:
                file.write(data)
DRAW
}

# With every way to read, gzip with a plain name trains like the plain file.
gzip_under_plain_names_trains_the_same() {
    local folder mode expected found
    draws_sets || return 1
    for mode in all scatter mpiio window; do
        for folder in plain renamed twice; do
            found=$(train_hashes "$mode" --data.set idx --data.path "$tmp/$folder" --data.name mine --data.samples 0)
            if [ -z "$found" ] || [ "$found" != "${expected:=$found}" ]; then
                echo "data.read = $mode, $folder: other weights"
                return 1
            fi
        done
    done
}

# Prints named cells of a row; no cell before them contains a comma.
cells() { # file, row, columns
    awk -F, -v row="$2" -v columns="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == row + 1 { n = split(columns, name, " "); for (i = 1; i <= n; i++) print $at[name[i]] }' "$1"
}

# Points that differ only in data.read are separate, and only the point that fetches has a fetch time.
tells_points_apart() {
    local summary=$tmp/results/reads/latest/summary.csv
    cat >"$tmp/reads.yaml" <<SPEC
name: reads
model: softmax_784
data: {set: digits, shard: contiguous}
place: {bind: hwthread, oversubscribe: allow}
train: {global_batch: 100}
matrix: {ranks: [2], data.read: [all, scatter]}
figures: []
measure: {time: {warmup_steps: 1, steps: 2, launches: 1..1}}
SPEC
    expect 0 "read=scatter" "$scalebench" run "$tmp/reads.yaml" --out "$tmp/results" || return 1
    [ "$(cells "$summary" 1 "data_read data_shard fetch_s" | paste -sd ' ')" = "all contiguous " ] || return 1
    [ "$(cells "$summary" 2 "data_read data_shard" | paste -sd ' ')" = "scatter contiguous" ] || return 1
    awk -v s="$(cells "$summary" 2 fetch_s)" -v all="$(cells "$summary" 2 read_s)" \
        'BEGIN { exit !(0 < s && s <= all) }'
}

# The whole set has 45 MiB; the library needs some MiB for messages.
refuses_a_small_shm() {
    expect 3 "data.read = window needs 44.9 MiB of shared memory, but /dev/shm has " \
        unshare "$@" sh -c 'mount -t tmpfs -o size=30m tmpfs /dev/shm && exec "$@"' sh \
        "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --data.samples 0 --data.read window --wait yield
}

check "every way gives the same weights: global order" trains_the_same
check "every way gives the same weights: contiguous shards" trains_the_same --data.shard contiguous
check "gzip under plain names gives the same weights" gzip_under_plain_names_trains_the_same
check "shards are another order" shards_train_otherwise
check "shares of a global order are fetched for each epoch" fetches scatter global 2
check "shards are fetched once" fetches scatter contiguous 1
check "a window is not fetched" fetches window global 0
check "points of different data.read have different labels" tells_points_apart
check "unknown way names the nearest" expect 2 "nearest 'scatter'" "$train_cnn" --model softmax_784 \
    --data.read scater
check "shards for every rank" expect 2 "1 samples are too few for 2 ranks" \
    "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --data.samples 1 --train.global_batch 1 \
    --data.shard contiguous
check "data that are nowhere" expect 2 "$tmp/none" "$mpiexec" -n 2 "$train_cnn" "${small[@]}" \
    --data.set mnist --data.path "$tmp/none" --data.read scatter
check "memory only cannot be read by MPI-IO" expect 2 "is only in the memory of each process" \
    env SCALEBENCH_CACHE=/proc/none "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --data.read mpiio
if unshare -m true 2>/dev/null; then
    check "shared memory that is too small" refuses_a_small_shm -m
elif unshare -Urm true 2>/dev/null; then
    check "shared memory that is too small" refuses_a_small_shm -Urm
else
    skip "shared memory that is too small" "no mount namespace here"
fi
finish
