#!/usr/bin/env bash
# Tests `make data` with a server on loopback whose files are whole, cut off, wrong or missing.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

sets_to=$tmp/data
export no_proxy=127.0.0.1 # a proxy would not find the server

# Files of random bytes with the real names; their checksums replace the real ones.
make_files() {
    local name folder=$tmp/served/cifar-10-batches-bin
    mkdir -p "$folder"
    for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
        head -c 50000 /dev/urandom >"$tmp/served/$name-ubyte.gz"
    done
    for name in data_batch_{1..5}.bin test_batch.bin batches.meta.txt; do
        head -c 1000 /dev/urandom >"$folder/$name"
    done
    tar -czf "$tmp/served/cifar-10-binary.tar.gz" -C "$tmp/served" cifar-10-batches-bin
    while read -r _ name; do
        echo "$(sha256sum "$tmp/served/${name#*/}" | cut -d ' ' -f 1)  $name"
    done <ci/data.sums >"$tmp/sums"
}

start_server() {
    python3 bench/tests/lib/file_server.py "$tmp/served" "$tmp/port" "$tmp/requests" &
    server=$!
    trap 'kill "$server"; rm -rf "$tmp"' EXIT
    until_true test -e "$tmp/port"
    url=http://127.0.0.1:$(cat "$tmp/port")
}

data() { # how the server behaves, sets
    local how=$1
    shift
    SCALEBENCH_MIRROR=$url/$how ci/data.sh --to "$sets_to" --sums "$tmp/sums" "$@"
}

all_are_right() {
    (cd "$sets_to" && sha256sum --check --quiet "$tmp/sums")
}

gets_everything() {
    data whole && all_are_right || return 1
    cmp "$sets_to/cifar10/data_batch_3.bin" "$tmp/served/cifar-10-batches-bin/data_batch_3.bin"
}

asks_nothing_twice() {
    : >"$tmp/requests"
    data whole && [ ! -s "$tmp/requests" ]
}

puts_unpacked_files_back() {
    rm "$sets_to/cifar10/test_batch.bin"
    asks_nothing_twice && cmp "$sets_to/cifar10/test_batch.bin" "$tmp/served/cifar-10-batches-bin/test_batch.bin"
}

# The server closes the connection half-way; the second call requests only the rest.
goes_on_after_a_cut() {
    local file=mnist/t10k-images-idx3-ubyte.gz
    rm "$sets_to/$file"
    data cut mnist && return 1
    [ "$(stat -c %s "$sets_to/$file.part")" -eq 25000 ] || return 1
    : >"$tmp/requests"
    data whole mnist && all_are_right || return 1
    cat "$tmp/requests"
    [ "$(cat "$tmp/requests")" = "/whole/${file#*/} bytes=25000-" ]
}

begins_anew_where_it_must() {
    local file=$sets_to/mnist/t10k-labels-idx1-ubyte.gz
    head -c 100 "$file" >"$file.part"
    rm "$file"
    expect 0 "which starts again" data norange mnist && all_are_right
}

# Complete but wrong: no rest is left to request.
begins_anew_after_a_wrong_part() {
    local file=$sets_to/mnist/t10k-labels-idx1-ubyte.gz
    rm "$file"
    head -c 50000 /dev/zero >"$file.part"
    expect 0 "which starts again" data whole mnist && all_are_right
}

names_a_wrong_file() {
    local name=train-labels-idx1-ubyte.gz expected found
    local file=$sets_to/mnist/$name
    mv "$tmp/served/$name" "$tmp/kept"
    echo wrong >"$tmp/served/$name"
    rm "$file"
    expected=$(grep "$name" "$tmp/sums" | cut -d ' ' -f 1)
    found=$(sha256sum "$tmp/served/$name" | cut -d ' ' -f 1)
    expect 1 "$file: wrong SHA-256 of the file from $url/whole: expected $expected, found $found; kept as $file.wrong" \
        data whole mnist || return 1
    mv "$tmp/kept" "$tmp/served/$name"
    [ ! -e "$file" ] && [ "$(cat "$file.wrong")" = wrong ] && data whole mnist && all_are_right
}

# A user's unexpected file is kept.
leaves_a_strange_file() {
    local file=$sets_to/mnist/train-labels-idx1-ubyte.gz
    echo mine >"$file"
    expect 1 "$file: wrong SHA-256: expected " data whole mnist && [ "$(cat "$file")" = mine ] && rm "$file"
}

names_what_is_nowhere() {
    mv "$tmp/served/train-labels-idx1-ubyte.gz" "$tmp/kept"
    expect 1 "mnist/train-labels-idx1-ubyte.gz: not found on any mirror" data whole mnist || return 1
    mv "$tmp/kept" "$tmp/served/train-labels-idx1-ubyte.gz"
    [ ! -e "$sets_to/mnist/train-labels-idx1-ubyte.gz" ]
}

check "help" expect 0 "--mirror URL" ci/data.sh --help
check "set that is unknown" expect 2 "'mnits' is unknown" ci/data.sh mnits
check "option without its value" expect 2 "--to needs a value" ci/data.sh --to
check "list of sums that is not there" expect 2 "cannot read $tmp/none" ci/data.sh --sums "$tmp/none"
if command -v python3 >/dev/null && command -v curl >/dev/null; then
    make_files
    start_server
    check "gets everything" gets_everything
    check "asks for nothing twice" asks_nothing_twice
    check "missing files are unpacked again" puts_unpacked_files_back
    check "an interrupted download resumes" goes_on_after_a_cut
    check "starts again if a server sends no part" begins_anew_where_it_must
    check "starts again after a wrong part" begins_anew_after_a_wrong_part
    check "wrong sum" names_a_wrong_file
    check "file of somebody else" leaves_a_strange_file
    check "a file that no mirror has" names_what_is_nowhere
else
    lacks "downloads" curl
fi
finish
