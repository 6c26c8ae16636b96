# shellcheck shell=bash
# Runs campaigns with lib/fake_trainer.sh, which takes no time. Source after lib/tap.sh.
# shellcheck disable=SC2154 # tmp and build of tap.sh
export SCALEBENCH_HOME=$PWD
bin=$tmp/bin out=$tmp/results
mkdir "$bin"
cp "$build/scalebench" "$build/pin" "$bin" || exit 1
cp bench/tests/lib/fake_trainer.sh "$bin/train_cnn"

cat >"$tmp/fake.yaml" <<END
name: fake
model: softmax_784
data: {set: digits}
train: {global_batch: 100}
ranks: 2
matrix:
  sync.strategy: [tree, allreduce]
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 1, launches: 3..4}
  accuracy: {seeds: [5, 6]}
  limit: 1min
  retries: 0
figures: []
END

run() { # arguments
    "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" "$@"
}

latest=$out/fake/latest

launches() { # that ended, of the latest run
    grep -c '"event":"done"' "$latest/journal.jsonl"
}

runs() {
    find "$out/fake" -mindepth 1 -maxdepth 1 -type d | wc -l
}

run_of_latest() {
    basename "$(readlink -f "$latest")"
}

# Starts a campaign whose allreduce hangs; returns when two ranks hang. Uses job control, since otherwise the shell would
# make it ignore Ctrl-C.
start_hanging() {
    rm -rf "$out"
    set -m
    FAKE_HANG=allreduce "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" \
        >"$tmp/run.log" 2>&1 &
    # shellcheck disable=SC2034 # of who waits for it, or kills it
    runner=$!
    set +m
    until_true hanging
}

hanging() {
    compgen -G "$latest/launches/*/*/hangs.0" && compgen -G "$latest/launches/*/*/hangs.1"
}

# Checks that the same command completes the campaign and keeps finished launches.
completes_later() {
    local before
    before=$(grep '"status":"ok"' "$latest/journal.jsonl")
    expect 0 "fake" run || return 1
    [ "$(runs)" -eq 1 ] || return 1
    [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq 12 ] || return 1
    grep '"status":"ok"' "$latest/journal.jsonl" | grep -qF "$before"
}
