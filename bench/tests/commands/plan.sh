#!/usr/bin/env bash
# Tests the forecasts of `scalebench plan`: from a run's own launches, from other campaigns, or rough; and their bounds.
# cores: 2
set -u
. bench/tests/lib/tap.sh

out=$tmp/out
# Uses its own folder of committed runs, so that new measurements change nothing here.
reference=$tmp/results/reference
mkdir -p "$reference"
committed=$PWD/results/reference
cd "$tmp" || exit 1

plan() { # rest of the spec, options of plan
    local spec=$1
    shift
    printf 'name: own\n%s\n' "$spec" >"$tmp/own.yaml"
    "$scalebench" plan "$tmp/own.yaml" --out "$out" --format csv "$@" >"$tmp/plan.csv"
}

# Prints a column, one line per point.
cells() { # column
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")): print(row[sys.argv[2]])' "$tmp/plan.csv" "$1"
}

sums_to() { # column, python expression over the sum x
    cells "$1" | python3 -c "import sys
x = sum(float(line) for line in sys.stdin if line.strip())
print('$1', x)
sys.exit(not ($2))"
}

small='model: vgg_mini
data: {set: shapes, samples: 2560}
train: {optimizer: sgd, lr: 0.1, global_batch: 256}
ranks: 1
sync.strategy: none'

# A network of no campaign here.
estimates_roughly() {
    plan "$small
measure: {time: {launches: 6..12}}" || return 1
    [ "$(cells timed_basis)" = rough ] && [ "$(cells timed)/$(cells timed_most)" = 6/12 ] && sums_to timed_s "0.5 < x < 60" &&
        sums_to most_s "x > 0" || return 1
    expect 0 "1 point roughly, from the FLOPs" "$scalebench" plan "$tmp/own.yaml" --out "$out" &&
        expect 0 "forecast: " "$scalebench" plan "$tmp/own.yaml" --out "$out"
}

# Epochs and seeds multiply.
counts_accuracy_runs() {
    local one
    plan "$small
measure: {time: {launches: 0}, accuracy: {seeds: [1]}}" || return 1
    one=$(cells least_s)
    plan "$small
measure: {time: {launches: 0}, accuracy: {seeds: [1, 2, 3]}}" && [ "$(cells accuracy)" = 3 ] &&
        sums_to least_s "abs(x / $one - 3) < 1e-6" || return 1
    plan "$small
measure: {time: {launches: 0}, accuracy: {seeds: [1]}}" --set train.epochs=300 && sums_to least_s "x > 2 * $one"
}

# First launches always run, further ones within the budget.
keeps_to_the_budget() {
    plan "$small
measure: {time: {launches: 20..30, steps: 1000}, budget: 1s}" && sums_to timed_s "x > 1" &&
        [ "$(cells least_s)" = "$(cells timed_s)" ] && [ "$(cells most_s)" = "$(cells timed_s)" ] &&
        sums_to cut_s "abs(x / $(cells timed_s) - 19) < 1e-6" &&
        expect 0 "measure.budget = 1s has no room for " "$scalebench" plan "$tmp/own.yaml" --out "$out" || return 1
    plan "$small
measure: {time: {launches: 20..30, steps: 1000}, budget: 24h}" && [ "$(cells cut_s)" = 0 ] &&
        sums_to least_s "abs(x / $(cells timed_s) - 20) < 1e-6" && sums_to most_s "abs(x / $(cells timed_s) - 30) < 1e-6" || return 1
    plan "$small
measure: {time: {launches: 20..20, steps: 10}, accuracy: {seeds: [1, 2, 3]}, budget: 10min}" --set train.epochs=10000 &&
        sums_to accuracy_s "x > 600" &&
        sums_to least_s "abs(x / (20 * $(cells timed_s) + 3 * $(cells accuracy_s)) - 1) < 1e-6"
}

warns_of_the_limit() {
    plan "$small
measure: {time: {steps: 200000}, limit: 10s}" && sums_to timed_s "x > 20" &&
        expect 0 "measure.limit = 10s would end a launch of ranks=1, which takes " \
            "$scalebench" plan "$tmp/own.yaml" --out "$out" || return 1
    expect 0 "forecast: " "$scalebench" plan "$tmp/own.yaml" --out "$out" --set measure.limit=24h && ! grep -F "measure.limit" "$tmp/expect.log"
}

# A committed run with the same network and batch gives the step; more ranks use its cores.
knows_other_campaigns() {
    local step
    cp -r "$committed/strong_scaling" "$reference" || return 1
    step=$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        $c["ranks"] == 1 { print $c["step_ms_median"]; exit }' "$reference/strong_scaling/summary.csv")
    plan "model: keras_690k
data: {set: digits}
train: {optimizer: adam, lr: 1e-3, global_batch: 256}
ranks: 1
sync.strategy: none
measure: {time: {launches: 6..6, warmup_steps: 1, steps: 10000}}" || return 1
    [ "$(cells timed_basis)/$(cells timed_from)" = elsewhere/strong_scaling ] &&
        sums_to timed_s "0.3 < x / (10 * $step) < 3" &&
        expect 0 "1 point from steps of the same network and batch in " "$scalebench" plan "$tmp/own.yaml" --out "$out"
}

# A point that cannot run takes no time; an unknown network has no forecast.
leaves_out_what_does_not_run() {
    plan "$small
place.oversubscribe: refuse
measure: {time: {launches: 2..2}}" --set "ranks=2560 sync.strategy=allreduce train.global_batch=2560" || return 1
    grep -q "^own,[^,]*,[^,]*,skipped," "$tmp/plan.csv" && [ -z "$(cells timed_s | tr -d '\n')" ] || return 1
    plan "workload: {command: [sleep, '1']}
measure: {time: {launches: 2..2}}" && [ "$(cells timed_basis)/$(cells timed_s)" = unknown/ ] &&
        expect 0 "without a forecast" "$scalebench" plan "$tmp/own.yaml" --out "$out"
}

# The emulated site has too few hosts for each point, so that its calibration would run for nothing.
leaves_out_calibrations_of_no_point() {
    plan "model: lenet_21k
data: {set: digits}
train: {optimizer: sgd, lr: 0.1, global_batch: 256}
site: {kind: emulated, hosts: 2, rate: 1gbit}
ranks: 4
nodes: 4
compute: replay
place.oversubscribe: allow
measure: {time: {launches: 2..2}}" || return 1
    [ "$(grep -c "^own,.*,skipped," "$tmp/plan.csv")" = 2 ] || return 1
    expect 0 "nodes = 4, but site.hosts = 2. Set site.hosts to 4, or leave it out" "$scalebench" plan "$tmp/own.yaml" --out "$out" &&
        expect 0 "no point that replays its times can run here" "$scalebench" plan "$tmp/own.yaml" --out "$out" &&
        expect 3 "nodes = 4" "$scalebench" run "$tmp/own.yaml" --out "$out"
}

# Then its own launches give the forecast, and finished ones no longer count as pending.
learns_from_its_launches() {
    local spec='model: softmax_784
data: {set: digits, samples: 1000}
train: {optimizer: sgd, lr: 0.1, global_batch: 100}
ranks: 1
sync.strategy: none
measure: {time: {launches: 2..2, warmup_steps: 1, steps: 2}}'
    plan "$spec" && [ "$(cells timed_done)" = 0 ] && [ "$(cells left_s)" = "$(cells least_s)" ] || return 1
    "$scalebench" run "$tmp/own.yaml" --out "$out" || return 1
    plan "$spec" && [ "$(cells timed_basis)/$(cells timed_done)/$(cells left_s)" = own/2/0 ] || return 1
    plan "$spec" --set measure.time.launches=4..4 && sums_to left_s "x > 0 and abs(x / $(cells least_s) - 0.5) < 1e-6" ||
        return 1
    # Two launches are finished, so a budget of three leaves one.
    plan "$spec" --set "measure.time.launches=20..20 measure.budget=$(python3 -c "print(f'{3 * $(cells timed_s):.9f}s')")" &&
        sums_to left_s "abs(x / $(cells timed_s) - 1) < 1e-3" && sums_to least_s "abs(x / $(cells timed_s) - 3) < 1e-3"
}

# Writes a run like those of results/reference, with one core per rank and 1e6 FLOPs per image.
holds() { # its name, class of machine, then site,link,model,strategy,nodes,ranks,global_batch,step,exposed,inject in ms
    local folder=$reference/$1 row
    mkdir -p "$folder"
    printf '{"facts": {"machine": "%s"}}\n' "$2" >"$folder/manifest.json"
    {
        echo "workload,threads_per_rank,oversubscribed,compute,flops_per_image,site,link,model,strategy,nodes,ranks,global_batch,step_ms_median,comm_exposed_ms,inject_ms"
        for row in "${@:3}"; do echo "train_cnn,1,0,real,1e6,$row"; done
    } >"$folder/summary.csv"
}

forgets_all() {
    out=$tmp/nothing
    rm -rf "${reference:?}"/*
}

thousand='measure: {time: {launches: 2..2, warmup_steps: 1, steps: 1000}}'
takes() { # time of a step, ms
    sums_to timed_s "abs(x - 0.5 - 1001 * $1 / 1e3) < 1e-3 * x"
}

# From a step over a link only computation is used for a point without one; steps with sleep are ignored.
tells_networks_apart() {
    forgets_all
    holds far "$here" "emulated,1gbit delay none,vgg_mini,ring,2,2,256,1000,900,0" \
        "local,,vgg_mini,none,1,1,256,5000,0,4000"
    plan "$small
$thousand" && [ "$(cells timed_from)" = far ] && takes 200 || return 1
    holds near "$here" "local,,vgg_mini,none,1,1,256,300,0,0"
    plan "$small
$thousand" && [ "$(cells timed_from)" = near ] && takes 300 || return 1
    plan "$small
$thousand
inject: {kind: fixed, sleep: 10ms}" && takes 310 || return 1
    plan "$small
$thousand
inject: {kind: fixed, sleep: 1s, steps: 2..11}" && takes "(300 + 10e3 / 1001)"
}

# Tables do not record how a network was cut. By the model, two slices sum 2560 and 81920 numbers in both directions, and a
# stage sends 10x12x12 numbers for 256 images.
tells_cut_nets_apart() {
    local spec="model: lenet_21k
data: {set: digits}
train: {optimizer: sgd, lr: 0.1, global_batch: 256}
ranks: 2
sync.strategy: allreduce
place.oversubscribe: allow
$thousand"
    forgets_all
    holds whole "$here" "local,,lenet_21k,allreduce,1,2,256,1,0.5,0"
    plan "$spec" && [ "$(cells timed_from)" = whole ] && takes 1 || return 1
    plan "$spec" --set parallel.tensor=2 && takes "(0.5 + 4 * 0.002 + 4 * (2560 + 81920) * (0.2e-6 + 0.1e-6))" || return 1
    plan "$spec" --set parallel.pipeline=2 && takes "(0.5 + 0.002 + 4 * 256 * 1440 * 0.2e-6)"
}

# Ranks with inject.kind kill do not sleep.
expects_no_sleep_of_the_killed() {
    local spec="$small
checkpoint.every_epochs: 1
measure: {time: {launches: 0}, accuracy: {seeds: [1]}}" alive
    plan "$spec" && alive=$(cells accuracy_s) || return 1
    plan "$spec" --set "inject.kind=kill restart.budget=1" && [ "$(cells accuracy_s)" = "$alive" ]
}

# Each rank has 4 bytes per number of the whole network, in whole pages, or an unknown part of it.
tells_memory_of_whole_nets() {
    local page spec="model: lenet_21k
data: {set: digits}
train: {global_batch: 64, optimizer: adam, lr: 1e-3}
ranks: 2
place.oversubscribe: allow
$thousand"
    page=$(getconf PAGESIZE)
    plan "$spec" && sums_to params_mib "abs(x - -(-4 * 21840 // $page) * $page / 2**20) < 1e-6" &&
        sums_to state_mib "abs(x - -(-8 * 21840 // $page) * $page / 2**20) < 1e-6" || return 1
    plan "$spec" --set "parallel.pipeline=2" && [ -z "$(cells params_mib)$(cells grads_mib)$(cells state_mib)$(cells buffers_mib)" ]
}

# It is four times as fast as the other on points that both measured.
scales_other_machines() {
    forgets_all
    holds there "a slower one" "local,,vgg_mini,none,1,1,256,300,0,0" "local,,lenet_21k,none,1,1,256,100,0,0"
    plan "$small
$thousand" && takes 300 || return 1
    holds here "$here" "local,,lenet_21k,none,1,1,256,25,0,0"
    plan "$small
$thousand" && [ "$(cells timed_from)" = there ] && takes 75
}

# An unmeasured network is forecast at the rate of the most similar one on this machine.
estimates_by_the_rate_here() {
    local slow
    forgets_all
    holds there "a slower one" "local,,lenet_21k,none,1,1,256,1000,0,0"
    holds here "$here" "local,,keras_690k,none,1,1,256,256,0,0"
    plan "$small
$thousand" && [ "$(cells timed_basis)" = rough ] || return 1
    slow=$(cells timed_s)
    holds here "$here" "local,,keras_690k,none,1,1,256,128,0,0"
    plan "$small
$thousand" && sums_to timed_s "abs((x - 0.5) * 2 / ($slow - 0.5) - 1) < 1e-3"
}

# The rate of a link counts: twice 2.8 MB in each direction per step.
knows_the_link() {
    local slow
    forgets_all
    local spec="model: keras_690k
data: {set: digits}
train: {optimizer: sgd, lr: 0.1, global_batch: 256}
site: {kind: emulated, hosts: 2}
nodes: 2
ranks: 2
place.oversubscribe: allow
sync.strategy: gather_scatter
$thousand"
    plan "$spec" || return 1
    slow=$(cells timed_s)
    plan "$spec" --set site.rate=10gbit && sums_to timed_s "20 < $slow - x < 80"
}

check "points that never ran are marked as estimated" estimates_roughly
check "accuracy runs count by epochs and seeds" counts_accuracy_runs
check "periods of local SGD count from sync.post_local" expect 0 "1 point" "$scalebench" plan "${committed%/*/*}/bench/tests/bad/spec/period_in_warmup.yaml" \
    --set "sync.period=4 sync.post_local=1 measure.time={warmup_steps: 4, steps: 3, launches: 1..1}"
check "measure.budget bounds further launches" keeps_to_the_budget
check "measure.limit ends launches" warns_of_the_limit
check "steps of committed runs count" knows_other_campaigns
check "skipped or unknown points have no time" leaves_out_what_does_not_run
if unshare -n true 2>/dev/null || unshare -rn true 2>/dev/null; then
    check "calibrations of points that cannot run are left out" leaves_out_calibrations_of_no_point
else
    skip "calibrations of points that cannot run are left out" "no network namespaces"
fi
check "launches of the run itself take precedence in the forecast" learns_from_its_launches
here=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["facts"]["machine"])' "$out/own/latest/manifest.json")
check "steps with another link or with injected sleep are forecast apart" tells_networks_apart
check "a network cut into stages is forecast apart" tells_cut_nets_apart
check "a killed rank does not sleep" expects_no_sleep_of_the_killed
check "memory is forecast if ranks hold the whole network" tells_memory_of_whole_nets
check "a step of another machine is brought to the speed of this one" scales_other_machines
check "a network is estimated by the rate of the nearest" estimates_by_the_rate_here
if unshare -n true 2>/dev/null || unshare -rn true 2>/dev/null; then
    check "the rate of a link counts" knows_the_link
else
    skip "the rate of a link counts" "no network namespaces"
fi

# new prints the plan of the spec that it wrote; without a plan it leaves no file.
begins_a_spec() {
    expect 0 "4 points, 0 skipped" "$scalebench" new begun --model vgg_mini --strategies none,ring,bucketed || return 1
    expect 0 "4 points, 0 skipped" "$scalebench" plan begun.yaml --out "$out" && grep -q "set: cifar10" begun.yaml || return 1
    cp begun.yaml kept.yaml
    expect 2 "begun.yaml cannot be written: File exists. Give another NAME" "$scalebench" new begun && cmp begun.yaml kept.yaml || return 1
    expect 2 "scalebench: new: sync.strategy: 'rang' is unknown; nearest 'ring'" "$scalebench" new bad --strategies none,rang &&
        [ ! -e bad.yaml ]
}

# Writes 256 images and their labels as NumPy and IDX files.
write_own_images() {
    local part
    mkdir "my images" faces || return 1
    for part in train test; do
        { printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (256, 28, 28), }"
            yes 'a row' | head -c $((256 * 784)); } >"my images/$part-images.npy"
        { printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (256,), }"
            yes | tr 'y\n' '\1\2' | head -c 256; } >"my images/$part-labels.npy"
    done
    for part in train t10k; do
        { printf '\0\0\10\3\0\0\1\0\0\0\0\34\0\0\0\34' && yes 'a row' | head -c $((256 * 784)); } >"faces/$part-images-idx3-ubyte"
        { printf '\0\0\10\1\0\0\1\0' && yes | tr 'y\n' '\1\2' | head -c 256; } >"faces/$part-labels-idx1-ubyte"
    done
}

# A folder of images instead of a data set: npy or idx, by the names of its files.
begins_a_spec_of_own_images() {
    write_own_images || return 1
    expect 0 "3 points" "$scalebench" new images --data "my images" && grep -q '^data: {set: npy, path: "my images"}' images.yaml &&
        expect 0 "3 points" "$scalebench" new images_idx --data ./faces && grep -q '^data: {set: idx, path: "./faces"}' images_idx.yaml &&
        expect 2 "new: --data: folder 'no/where' not found" "$scalebench" new nowhere --data no/where &&
        expect 2 "data.set: 'mnst' is unknown; nearest 'mnist'" "$scalebench" new nowhere --data mnst && [ ! -e nowhere.yaml ]
}
# Options whose effect the machine decides are not refused, since the spec may be for another machine.
notes_equal_points() {
    printf 'name: own\n%s\n' "${small/ranks: 1/matrix: {place.oversubscribe: [refuse, allow]\}}" >"$tmp/own.yaml"
    expect 0 "note: two points run alike on this machine" "$scalebench" plan "$tmp/own.yaml" --out "$out" &&
        expect 0 "'oversubscribe=refuse' and 'oversubscribe=allow'. Differences" "$scalebench" plan "$tmp/own.yaml" --out "$out" &&
        ! "$scalebench" plan "$tmp/own.yaml" --out "$out" --set 'matrix.place.oversubscribe=[allow]' 2>&1 | grep "run alike"
}
# The trainer counts the images of one's own.
forecasts_own_images() {
    mkdir -p "$tmp/own_images"
    python3 - "$tmp/own_images" <<'PY' || return 1
import struct, sys
for part, n in ("train", 600), ("t10k", 60):
    with open(f"{sys.argv[1]}/{part}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">IIII", 0x803, n, 28, 28) + bytes(i % 251 for i in range(n * 784)))
    with open(f"{sys.argv[1]}/{part}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">II", 0x801, n) + bytes(i % 10 for i in range(n)))
PY
    plan "model: softmax_784
data: {set: idx, path: $tmp/own_images}
train: {global_batch: 60, epochs: 6}
measure: {time: {launches: 0}, accuracy: {seeds: [1]}}" && [ "$(cells accuracy_basis)" = rough ] && sums_to least_s "x > 0"
}
check "accuracy runs on images of one's own have a forecast" forecasts_own_images
check "two points with the same cores and instruction set are noted" notes_equal_points
check "a spec is begun" begins_a_spec
check "a spec of own images is begun" begins_a_spec_of_own_images
check "commands are printed where asked for" expect 0 " --record=DIR --run=time " "$scalebench" plan "$tmp/own.yaml" --commands
check "another format is refused" expect 2 "known: text csv" "$scalebench" plan "$tmp/own.yaml" --format json
finish
