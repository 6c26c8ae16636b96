#!/usr/bin/env bash
# Tests the archive of `make bundle` on an empty machine: a root with only /proc, /dev, /tmp and /dev/shm.
# tier: rest
# cores: 2
# seconds: 60
set -u
. bench/tests/lib/tap.sh

if grep -qE '__asan_init|__ubsan_handle|__tsan_init' "$train_cnn"; then
    skip "a bundle" "sanitizers have libraries of their own"
    finish
    exit
fi

# Without rights the namespace has no name of its own.
bare=$tmp/bare
own=(unshare --mount --pid --fork --kill-child)
"${own[@]}" true 2>/dev/null || own+=(--user --map-root-user)
error=$("${own[@]}" true 2>&1) || {
    echo "$error"
    lacks "a bundle in an empty root" namespaces
    finish
    exit
}

cat >"$tmp/enter" <<END
#!/bin/sh
set -e
cd "$bare"
mkdir -p proc dev tmp
mount -t proc proc proc
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs dev
for device in null zero random urandom; do
    touch dev/\$device
    mount --bind /dev/\$device dev/\$device
done
mkdir dev/shm
mount -t tmpfs -o mode=1777 tmpfs dev/shm
exec unshare --root "$bare" --wd "\$@"
END
chmod +x "$tmp/enter"

# Keeps PATH of this shell's environment; none of its folders exists there.
enter() { # folder in the bare root, command
    env -i HOME=/tmp PATH="$PATH" SCALEBENCH_LOCKS=/tmp/locks "${own[@]}" "$tmp/enter" "$@"
}

is_written() {
    local archive bytes
    mkdir "$tmp/on its way"
    archive=$(SCALEBENCH_DATA=${SCALEBENCH_REAL_DATA:-none} MPIEXEC=$mpiexec BUILD=$build TMPDIR="$tmp/on its way" ci/bundle.sh "$tmp")
    case $? in
    3) return 3 ;;
    0) ;;
    *) return 1 ;;
    esac
    bytes=$(stat -c %s "$archive")
    echo "$bytes bytes"
    [ "$bytes" -le $((64 << 20)) ] || return 1
    mkdir -p "$bare/opt"
    tar -xzf "$archive" -C "$bare/opt" && mv "$bare"/opt/scalebench-* "$bare/opt/some place"
}
is_written >"$tmp/written.log" 2>&1
case $? in
3)
    cat "$tmp/written.log"
    lacks "a bundle" libc.a
    finish
    exit
    ;;
*) check "an archive of at most 64 MiB is written" sh -c "cat '$tmp/written.log'; [ -e '$bare/opt/some place/scalebench' ]" ;;
esac

# No libraries of the machine and no shell.
nothing_else_is_there() {
    [ "$(ls "$bare")" = opt ] || return 1
    expect 127 "No such file" enter / /bin/sh -c true
}
check "the root has nothing but the bundle" nothing_else_is_there

set="matrix.ranks=[1,2] measure.time.launches=1..1 measure.time.steps=3 measure.time.warmup_steps=1
    measure.accuracy.seeds=[] place.oversubscribe=allow data.samples=2000"
campaign() { # folder
    enter "$1" ./scalebench run configs/strong_scaling.yaml --set "$set"
}

column() { # name
    awk -F, -v name="$1" '{ gsub(/"[^"]*"/, "quoted") } NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$bare/opt/some place/results/strong_scaling/latest/summary.csv"
}

runs_there() {
    local images=generated
    [ ! -d "$bare/opt/some place/data" ] || images=real
    expect 0 "to draw the figures, here or on another machine" campaign "/opt/some place" || return 1
    paste -d' ' <(column ranks) <(column strategy) <(column status) <(column data_source) | tee /dev/stderr |
        cmp - <(printf "%s ok $images\n" "1 none" "2 none" "2 allreduce")
}
check "a campaign runs there, without figures" runs_there

goes_on_elsewhere() {
    mkdir "$bare/srv" && mv "$bare/opt/some place" "$bare/srv/other" || return 1
    campaign /srv/other
    [ "$(find "$bare/srv/other/results/strong_scaling" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 1 ]
}
check "unpacked elsewhere, the same campaign is done already" goes_on_elsewhere

# All program names are the same starter.
another_program_is_another_run() {
    printf '\0' >>"$bare/srv/other/build/train_cnn.program"
    expect 0 "the program train_cnn differs from" campaign /srv/other
}
check "a run is known by the programs themselves" another_program_is_another_run

by_hand() {
    expect 0 "ranks=2 nodes=1" enter /srv/other build/mpiexec -n 2 build/hello_ranks &&
        expect 0 "weights equal on all ranks" enter /srv/other build/mpiexec -n 2 build/train_cnn \
            --model lenet_21k --data.set digits --data.samples 1000 --train.epochs 1 &&
        expect 2 "is unknown; nearest 'allreduce'" enter /srv/other ./scalebench plan strong_scaling.yaml \
            --set sync.strategy=alreduce
}
check "programs of a bundle run by hand and report errors" by_hand

elsewhere_too() {
    (cd "$tmp" && expect 0 "ranks=2 nodes=1" "$bare/srv/other/build/mpiexec" -n 2 \
        "$bare/srv/other/build/hello_ranks") &&
        expect 127 "No such file or directory" "$bare/srv/other/build/nobody"
}
ln "$bare/srv/other/build/pin" "$bare/srv/other/build/nobody"
check "a machine that has all this takes no part" elsewhere_too

# The loader would split its list of folders at this character and use the machine's libraries.
not_there() {
    mkdir "$tmp/at 10:30" && cp -r "$bare/srv/other/build" "$bare/srv/other/lib" "$tmp/at 10:30" &&
        expect 127 "must not contain ':' or ';'" "$tmp/at 10:30/build/scalebench" list sites
}
check "a path that the loader would cut is refused" not_there
finish
