#!/usr/bin/env bash
# Runs every malformed file of the corpus through the commands of a user. Each must end with exit status 2, the place and
# the reason in its first line, and nothing may run. Files in bad/plan pass the reader of specs.
# cores: 1
set -u
. bench/tests/lib/tap.sh

reason() { # file
    sed -n '1s/^# expect: //p' "$1"
}

for file in bench/tests/bad/{spec,plan}/*.yaml; do
    check "$(basename "$file")" expect 2 "$file:$(reason "$file")" "$scalebench" plan "$file"
done

# Conditions and figures are checked after the reader of specs.
while IFS='|' read -r set owner <&3; do
    check "a value that is empty at every point is refused: $set" expect 2 "it needs $owner at every point" "$scalebench" plan quick --set "$set"
done 3<<'END'
checks=["late_ms < 1"]|compute, which is real
checks=["sleep_margin_ms < 1"]|compute, which is real
checks=["bytes_nic < 1000"]|site, which is local
checks=["bytes_tensor > 0"]|parallel.tensor, which is 1
figures=[{kind: bars, y: bytes_nic_rx}]|site, which is local
END
printf '%s\n' 'name: trained' 'model: lenet_21k' 'data: {set: digits}' 'train: {global_batch: 64, epochs: 2}' 'ranks: 2' \
    'measure: {time: {launches: 0}, accuracy: {seeds: [1]}}' >"$tmp/trained.yaml"
check "a strategy without accuracy runs in a spec of accuracy" expect 2 "SET:1:15: nothing is measured: this value rules out accuracy runs at every point" \
    "$scalebench" plan "$tmp/trained.yaml" --set sync.strategy=none
check "injected steps and warm-up steps of the command line" expect 2 "inject.steps = 1..5 has no effect: every sleep falls into measure.time.warmup_steps" \
    "$scalebench" plan "$tmp/trained.yaml" --set "measure.time.launches=6 measure.time.warmup_steps=10 measure.time.steps=20 measure.accuracy.seeds=[] train.epochs=1 inject={kind: fixed, ranks: [1], sleep: 5ms, steps: 1..5}"
check "a job script in place of a cluster" expect 2 "not YAML: did not find expected <document start>. --site expects a description of a cluster, such as" \
    "$scalebench" submit quick --site configs/sites/bench.sbatch --dry-run
check "more warm-up steps than steps" expect 0 "forecast" "$scalebench" plan quick --set "measure.time.warmup_steps=20 measure.time.steps=5"
check "a baseline by its case" expect 2 "SET:1:11: baseline: expected options, found 'case'" "$scalebench" plan quick --set "baseline={case: plain}"
for command in plan run figures table status; do
    check "$command: a spec that is not there" expect 2 "'strong_scalin.yaml' not found in the current folder or in configs; nearest 'strong_scaling'; " \
        "$scalebench" "$command" strong_scalin.yaml
done

ln -s loop.yaml "$tmp/loop.yaml"
check "a spec that is a loop of links" expect 2 "$tmp/loop.yaml: cannot be opened: Too many levels of symbolic links" \
    "$scalebench" plan "$tmp/loop.yaml"
batch_beyond_the_data() {
    printf 'name: bad\nmodel: softmax_784\ndata: {set: digits}\ntrain: {global_batch: 70000}\n' >"$tmp/beyond.yaml"
    expect 2 "beyond.yaml:4:23: one step of all ranks needs 70000 images, but digits has only 60000 images to train on: expected at most 60000" \
        "$scalebench" plan "$tmp/beyond.yaml"
}
shm_of_two_nodes() {
    printf 'name: bad\nmodel: softmax_784\nsite: {kind: emulated, hosts: 2}\n%s\n%s\n%s\n%s\n' \
        'train: {global_batch: 64}' 'nodes: 2' 'ranks: 2' 'sync: {strategy: shm}' >"$tmp/nodes.yaml"
    expect 0 "skipped: nodes = 2, but strategy shm needs all ranks on one node" "$scalebench" plan "$tmp/nodes.yaml"
}
check "shared memory of two nodes is skipped" shm_of_two_nodes
check "a batch beyond the data is refused" batch_beyond_the_data
near_here() {
    (cd "$tmp" && : >mine.yaml && expect 2 "; nearest 'mine.yaml'; " "$scalebench" plan mine.yml)
}
check "a spec of the current folder is near" near_here
check "a network of configs/models goes by its file's name too" expect 0 "lenet_21k" "$scalebench" model lenet_21k.yaml

check "a spec is near behind its folder" expect 2 "nearest 'configs/strong_scaling.yaml'; " \
    "$scalebench" plan configs/strong_scalin.yaml
check "a folder is looked in once" expect 2 "not found in the current folder, configs/, configs/models/; nearest 'models/lenet_21k.yaml'" \
    "$scalebench" plan quick --set model=models/lenet.yaml
for command in check report compare; do
    check "$command: a run that is not there is near" expect 2 "; nearest 'strong_scaling'" \
        "$scalebench" "$command" strong_scalin "ranks > 0"
done
check "a missing option is reported with its help" expect 2 "run: SPEC is missing; see \`scalebench run --help\`" "$scalebench" run
check "--version takes no argument" expect 2 "--version: 'x' is one argument too many; expected none" "$scalebench" --version x
check "hello_ranks takes no argument" expect 2 "hello_ranks: 'x' is one argument too many; expected none" "$build/hello_ranks" x
check "a term of two words" expect 2 "'rate' is one argument too many; expected [NAME]. Words that belong together need quotation marks" \
    "$scalebench" explain learning rate
check "the verdicts in place of the claims" expect 2 "claims: expected a YAML file of claims, such as results/claims.yaml, found 'results/claims.csv'" \
    "$scalebench" claims results/claims.csv
check "a published table of something else" expect 2 "kota_loss.csv: --published: expected a CSV file with one row per layer of a network" \
    "$scalebench" model lenet_21k --published kota_loss.csv
check "a file of a run in place of its folder" expect 2 "summary.csv: tar cannot extract this file. Expected a folder of runs, or an archive" \
    "$scalebench" collect results/reference/strong_scaling/summary.csv
check "the share of errors in place of the level" expect 2 "--level: expected a percentage from 50% to below 100%, such as 95%, found '5%'" \
    "$scalebench" compare results/reference/strong_scaling results/reference/overlap --level 5%
printf 'ranks;step_ms\n1;31,8\n' >"$tmp/semicolons.csv"
check "cells between semicolons" expect 2 "line 2: expected 1 cell as in the first row, found 2; cells are separated by commas, not ';'" \
    "$scalebench" plan quick --set "published.file=$tmp/semicolons.csv published.keys=[ranks] published.values=['step_ms_median = step_ms']"
check "one argument too many" expect 2 "'b' is one argument too many; expected SPEC" "$scalebench" plan a b
check "a SET with a blank for the sign" expect 2 "plan: --set train.lr: expected key=value; write --set train.lr=VALUE" \
    "$scalebench" plan quick --set train.lr 0.5
for command in plan run; do
    check "$command: results below a file" expect 2 "--out CHANGELOG.md: expected a folder of results, found a file" \
        "$scalebench" "$command" quick --out CHANGELOG.md
done
check "status reports a wrong argument with its usage" expect 2 "If you mean a spec, type strong_scalin.yaml" "$scalebench" status strong_scalin
check "a program in place of a run" expect 2 "'bench/tests/lib/file_server.py' is a file: expected a run's folder or name, or a table" \
    "$scalebench" table bench/tests/lib/file_server.py
check "explain: the meaning of a name" expect 2 "; nearest 'train.lr'" "$scalebench" explain train.learning_rate
check "explain: nothing is near no name" expect 2 "list entry; \`scalebench explain\`" "$scalebench" explain ""
check "explain: an axis" expect 0 "Number of MPI processes" "$scalebench" explain matrix.ranks
check "explain: a setting" expect 0 "Learning rate at one rank" "$scalebench" explain train.lr=0.1
check "a table in place of a run" expect 2 "'results/claims.csv' is a table, not a run: expected the name of a run, or the folder of a run" \
    "$scalebench" check results/claims.csv "step_ms < 25"
check "runs: why one is unreadable" expect 1 "journal.jsonl not found: this may be a copy with tables only" "$scalebench" runs results/reference/strong_scaling
check "a metric that is near" expect 2 "workload.time: 'time_mss' is unknown; nearest 'time_ms'" \
    "$scalebench" plan configs/examples/pi.yaml --set workload.time=time_mss
check "a sign turned around" expect 2 "'speedup => 2': expected '>=', found '=>'" \
    "$scalebench" check results/reference/strong_scaling "speedup => 2"
check "a unit behind a blank" expect 2 "expected '90%' without a space, found '90 %'" \
    "$scalebench" check results/reference/strong_scaling "efficiency >= 90 %"
check "a condition without quotation marks" expect 2 "check: expected a condition in quotation marks, found separate words. Use \"ranks >= 2\"" \
    "$scalebench" check results/reference/strong_scaling ranks ">=" 2
check "a condition whose > the shell took" expect 2 "expected a condition in quotation marks, found 'speedup 1.8 where ranks = 2'" \
    "$scalebench" check results/reference/strong_scaling speedup 1.8 where ranks = 2
check "trainer: an option of specs" expect 2 "--ranks: unknown option. Option ranks belongs in a spec" "$train_cnn" --ranks 2
check "trainer: an option without dashes" expect 2 "'train.lr=0.5' is not an option; write --train.lr=0.5" "$train_cnn" train.lr=0.5
check "a condition and its where without quotation marks" expect 2 "found separate words. Use \"speedup >= 2 where ranks = 2\"" \
    "$scalebench" check results/reference/overlap speedup ">=" 2 where ranks = 2
check "if in place of where" expect 2 "found 'if'; use \`where\`, as in \"speedup > 1 where ranks = 2\"" \
    "$scalebench" check results/reference/overlap "speedup > 1 if ranks = 2"
check "runs without a common point" expect 3 "(such as 'default plan train_cnn precision=fp32' in 'results/reference/peer_vgg'). Compare runs of the same points" \
    "$scalebench" compare results/reference/strong_scaling results/reference/peer_vgg
check "a key below figures" expect 2 "Give the whole list, such as figures=[{kind: time, where: ranks = 2}]" \
    "$scalebench" plan configs/quick.yaml --set "figures.where=ranks"
check "a range of ranks for new" expect 2 "new: --ranks: expected auto or numbers separated by commas, such as 1,2,4; found '1-4'" \
    "$scalebench" new "$tmp/range" --ranks 1-4
check "a folder of results that is not there" expect 2 "a name in $tmp/none (--out: folder not found) or results/reference" \
    "$scalebench" table run --out "$tmp/none"
check "a link file of another kind" expect 2 "link: expected a link.csv as make bench-comm writes it, found summary.csv: line 1: column 'coefficient' is missing" \
    "$scalebench" plan configs/quick.yaml --set "link=results/reference/strong_scaling/summary.csv figures=[{kind: time, model: true}]"
check "a published file that is no CSV file" expect 2 "published.file: expected a CSV file with a row of column names, found quick.yaml: line" \
    "$scalebench" plan configs/quick.yaml --set "published.file=configs/quick.yaml published.values=[step_ms_median]"
check "a value that no point has" expect 3 "the run has strategy = none, allreduce" \
    "$scalebench" check results/reference/strong_scaling "step_ms < 1 where strategy = all_reduce"
check "a SET with commas" expect 2 "'0.1,' is not a number; values in --set are separated by blanks, without commas" \
    "$scalebench" plan quick --set "train.lr=0.1, train.momentum=0.9"
check "a SET without a value" expect 2 "SET:1:7: ranks= has no value; expected key=value" "$scalebench" plan quick --set ranks=
check "a case of a spec without cases" expect 2 "cases.a: this spec has no cases" "$scalebench" plan quick --set cases.a.ranks=2
check "nodes that are no number" expect 2 "nodes: 'all' is neither a whole number nor auto" "$scalebench" plan quick --set nodes=all
check "a summary that is not there" \
    expect 2 "--published: 'wang_model.csv' not found in the current folder or results/published; nearest 'wang_yang_model.csv'" \
    "$scalebench" model lenet_21k --published wang_model.csv
check "an option of specs without --set" expect 2 "plan: '--form' is an option of specs; use --set form=quick" \
    "$scalebench" plan strong_scaling --form quick
check "the same with its value" expect 2 "run: '--train.lr' is an option of specs; use --set train.lr=0.5" \
    "$scalebench" run quick --train.lr=0.5
check "an option before the command" expect 2 "'--set': the command comes first; expected scalebench COMMAND" \
    "$scalebench" --set a=b plan strong_scaling
check "a condition before the run" expect 2 "check: expected RUN before the conditions, found the condition 'speedup >= 1.8'" \
    "$scalebench" check "speedup >= 1.8" strong_scaling
check "check: a second run" expect 2 "expected conditions after the run 'strong_scaling', found another run, 'results/reference/accuracy'. Check one run" \
    "$scalebench" check strong_scaling results/reference/accuracy "speedup >= 1.8"
check "check: an unknown unit" expect 2 "alone or with a unit: ms s min h GiB MiB KiB B %, found '1GB'" \
    "$scalebench" check strong_scaling "memory_mib < 1GB"
check "report: a run twice" expect 2 "report: 'strong_scaling' and an earlier operand name the same folder results/reference/strong_scaling" \
    "$scalebench" report results/reference/strong_scaling strong_scaling --output "$tmp/report.html"
classes_beyond_the_data() {
    printf '%s\n' "name: wide" "input: [1, 28, 28]" "classes: 100" "layers:" "  - dense: {outputs: 100}" >"$tmp/wide.yaml"
    printf '%s\n' "name: bad" "model: wide.yaml" "data: {set: digits}" "train: {global_batch: 100}" >"$tmp/wide_spec.yaml"
    expect 2 "model wide has 100 classes, but data set digits has 10: set \`classes\` and the outputs of the last layer to 10" \
        "$scalebench" plan "$tmp/wide_spec.yaml"
}
check "a network with more classes than the data" classes_beyond_the_data
check "report: a page of another format" expect 2 "report.pdf: expected a name that ends in .html" \
    "$scalebench" report strong_scaling --output "$tmp/report.pdf"
check "model: --json with --published" expect 2 "Leave one of the two out" "$scalebench" model lenet_21k --json --published gone
check "report: a folder as its page" expect 2 "report: --output: expected a file, but $tmp is a folder" \
    "$scalebench" report strong_scaling --output "$tmp"
words_in_one() {
    printf '%s\n' "name: words" "workload: {command: [sleep 0.1]}" "measure: {time: {launches: 1..1}}" >"$tmp/words.yaml"
    expect 0 "Write the program and each argument as an item of a list, such as [sleep, \"0.1\"]" "$scalebench" plan "$tmp/words.yaml"
}
check "a program and its arguments in one word" words_in_one
servers_beyond_ranks() {
    expect 2 "sync.servers = 3 exceeds ranks = 2, but each server is a rank. Use at most 2" "$mpiexec" -n 2 "$train_cnn" --model softmax_784 \
        --data.set digits --train.global_batch 64 --sync.strategy param_server --sync.servers 3 || return
    [ "$(grep -c "each server is a rank" "$tmp/expect.log")" -eq 1 ] && ! grep MPI_Abort "$tmp/expect.log"
}
check "trainer: one rank reports servers beyond the ranks" servers_beyond_ranks
check "machine: a program that is not there" expect 1 "program - nothere (not found)" "$scalebench" machine nothere
check "figures: a picture as its folder" expect 2 "figures: --output $tmp/f.svg: expected a folder, found the name of a picture" \
    "$scalebench" figures results/reference/strong_scaling --output "$tmp/f.svg"
check "doctor: an option of a trainer" expect 2 "SET:1:8: doctor: train.lr has no effect, because nothing is trained. Use options of the site" \
    "$scalebench" doctor --out "$tmp/out" --set "seed=1 train.lr=3"
check "a word in place of a checkpoint" expect 2 "; expected a file, auto or no" "$scalebench" plan quick --set checkpoint.resume=yes
extension_is_not_doubled() {
    (cd "$tmp" && mkdir new && "$scalebench" new new/a.yaml && "$scalebench" new new/b.yml && "$scalebench" new new/c) &&
        [ "$(echo "$tmp"/new/*)" = "$tmp/new/a.yaml $tmp/new/b.yaml $tmp/new/c.yaml" ] && grep -x "name: a" "$tmp/new/a.yaml"
}
check "new: the extension is written once" extension_is_not_doubled
check "doctor: simulated hosts" expect 2 "doctor: site: simulated has no cores or links to check. Use another site" \
    "$scalebench" doctor --out "$tmp/out" --set site=simulated
check "doctor: a spec of simulated hosts" expect 2 "doctor: site: simulated has no cores or links to check. Use another site" \
    "$scalebench" doctor configs/examples/why.yaml --out "$tmp/out"
check "simulate: --set of a launch" expect 2 "simulate: --set works only with --again" \
    "$scalebench" simulate runs/launches/0/time-000 --set site.rate=nonsense
check "simulate: no run in place of a run" expect 2 "'nothere' is not a run: expected a folder with summary.csv" \
    "$scalebench" simulate --again nothere
check "simulate: a run without simulated points" expect 2 "simulate: results/reference/strong_scaling has no point with site: simulated" \
    "$scalebench" simulate --again results/reference/strong_scaling
mkdir "$tmp/begun" && cp results/reference/past_scale/spec.yaml "$tmp/begun"
for command in predict "simulate --again"; do
    # shellcheck disable=SC2086
    check "$command: a run that has not ended" expect 2 "summary.csv: table not found; a run writes tables when it ends" "$scalebench" $command "$tmp/begun"
done
check "claims: a spec" expect 2 "quick.yaml:2:1: expected a file of claims, as results/claims.yaml; key 'name' is unknown" "$scalebench" claims configs/quick.yaml
check "run: copies that a launcher started" expect 2 "PMI_SIZE=2: a launcher started several copies of this command" env PMI_SIZE=2 "$scalebench" run nosuch
check "simulate: --why of a run" expect 2 "simulate: --why has no effect with --again. Leave one of the two out" "$scalebench" simulate --again nothere --why
check "submit: no cluster" expect 2 "submit: --site is missing; expected the name of a cluster" "$scalebench" submit quick
check "status: no run yet" expect 2 "'quick' has no run in $tmp" "$scalebench" status quick --out "$tmp"
check "figures of another table" expect 2 "figures: expected the table of a sweep: 'kota_loss.csv' is unknown; known: comm.csv kernels.csv" \
    "$scalebench" figures results/published/kota_loss.csv
check "the table of a run" expect 2 "raw.csv' is a table of the run results/reference/accuracy. Give the run's folder or name" \
    "$scalebench" table results/reference/accuracy/raw.csv
no_name_is_its_own_nearest() {
    expect 2 "'results/reference' is not a run" "$scalebench" table results/reference || return 1
    ! grep -F "nearest" "$tmp/expect.log"
}
check "a folder that is not a run is not suggested as its own nearest name" no_name_is_its_own_nearest
check "layers of a sweep" expect 2 "--layer: model lenet_21k has no layer 'dense9'; \`scalebench model lenet_21k\` lists all layers" \
    "$build/kernel_sweep" --model lenet_21k --layer dense9
for file in bench/tests/bad/models/*.yaml; do
    check "model $(basename "$file")" expect 2 "$file:$(reason "$file")" "$scalebench" model "$file"
done

check "a run's folder in place of its spec" expect 2 "expected a spec, found the folder 'results/reference/accuracy'. Use 'results/reference/accuracy/spec.yaml'" \
    "$scalebench" plan results/reference/accuracy
for file in results/claims.csv README.md; do
    check "$file is no spec" expect 2 "(.${file##*.}), expected a spec (.yaml)" "$scalebench" plan "$file"
    check "$file is no model" expect 2 "(.${file##*.}), expected a model (.yaml)" "$scalebench" model "$file"
done

files_are_named_by_kind() {
    local command model=configs/models/lenet_21k.yaml site=configs/sites/example.yaml spec=configs/quick.yaml
    for command in run plan; do
        expect 2 "$model:3:1: this is a model, expected a spec. To use a model, write \`model: PATH\` in a spec" \
            "$scalebench" "$command" "$model" &&
            expect 2 "$site:3:1: this is a site file, expected a spec. To use a site file, give its path to \`scalebench submit --site\`" \
                "$scalebench" "$command" "$site" || return 1
    done
    expect 2 "$spec:2:1: this is a spec, expected a model. To use a spec, give its path to \`scalebench run\`" "$scalebench" model "$spec" &&
        expect 2 "$spec:2:1: this is a spec, expected a model" "$train_cnn" --model "$spec" &&
        expect 2 "$spec:2:1: this is a spec, expected a site file" \
            "$scalebench" submit --site "$spec" "$spec" --dry-run
}
check "a file of another kind is named by its kind" files_are_named_by_kind
check "list: a folder that is not there" expect 2 "list: --out $tmp/nodir: folder not found; expected a folder of results" \
    "$scalebench" list runs --out "$tmp/nodir"

# Data: a spec with unreadable data is rejected with its place before anything runs.
mkdir "$tmp/mnist"
for name in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte \
    t10k-labels-idx1-ubyte; do
    printf '\0\0\10\11............' >"$tmp/mnist/$name"
done
cat >"$tmp/torn.yaml" <<SPEC
name: torn
model: softmax_784
data: {path: $tmp/mnist}
train: {global_batch: 100}
measure: {time: {launches: 1..1}}
SPEC
train() {
    "$mpiexec" -n 1 "$train_cnn" --model softmax_784 --train.global_batch 100 "$@"
}
check "trainer: wrong magic number" expect 2 "byte 0: magic number" train --data.path "$tmp/mnist"
check "trainer: folder that is not there" expect 2 "$tmp/none" train --data.path "$tmp/none"
check "trainer: a file in place of a folder" \
    expect 2 "bad_input.sh: cannot be opened: Not a directory; expected a folder with the files of mnist" \
    train --data.path bench/tests/bad_input.sh
check "trainer: a batch beyond the samples" \
    expect 2 "train.global_batch = 64: expected at most 10, the number of images" \
    train --data.set digits --data.samples 10 --train.global_batch 64
check "trainer: a target in place of percent" \
    expect 2 "train.target_acc_pct: expected a percentage above chance, which is 10 % with 10 classes, found '0.9'" \
    train --data.set digits --train.target_acc_pct 0.9
check "trainer: epochs of a timed run" expect 2 "--train.epochs has no effect with --run time, only with --run accuracy. Leave it out" \
    "$train_cnn" --model softmax_784 --train.global_batch 100 --data.set digits --run time --train.epochs 2
check "trainer: timed steps of an accuracy run" expect 2 "--measure.time.steps has no effect with --run accuracy, only with --run time" \
    train --data.set digits --measure.time.steps 2
for options in "--train.lr 5" "--sync.strategy ring" "--run time" "--record $tmp"; do
    # shellcheck disable=SC2086 # an option and its value
    check "trainer: $options of a plan" expect 2 "train_cnn: ${options% *} has no effect with --describe-plan; leave it out" \
        "$train_cnn" --model softmax_784 --describe-plan $options
done
while IFS='|' read -r options owner <&3; do
    # shellcheck disable=SC2086
    check "trainer: $options has no effect" expect 2 "has no effect$owner" train --data.set digits $options
done 3<<'END'
--train.optimizer adam --train.momentum 0.9| where train.optimizer = adam: expected sgd or lars; leave it out
--sync.period 4| where sync.strategy = allreduce: expected local_sgd
--train.lr_gamma 0.5| where train.lr_schedule = constant: expected step
--train.loss_scale 1024| where train.precision = fp32: expected fp16
--train.nesterov yes| without train.momentum, which is 0
--checkpoint.dtype bf16| without checkpoint.every_epochs, which is 0
--kernels.plan reference --kernels.tune start| where kernels.plan = reference: expected fast or exact
END
check "trainer: weights that are a spec" expect 2 "offset 8: the header does not begin with '{': expected a safetensors file" \
    train --data.set digits --checkpoint.start configs/quick.yaml
# Weights of another network are found before a run, and by the trainer.
weights() { # file, entries of the header but the bias, end of the weights, bytes of all numbers
    local header="{$2,\"fc.bias\":{\"dtype\":\"F32\",\"shape\":[10],\"data_offsets\":[$3,$(($3 + 40))]}}"
    [ -z "${5:-}" ] || header=${header//\"fc./\"$5fc.}
    # shellcheck disable=SC2059 # the byte of the length
    printf "\\x$(printf %02x ${#header})\\0\\0\\0\\0\\0\\0\\0%s" "$header" >"$tmp/$1"
    head -c "$4" /dev/zero >>"$tmp/$1"
}
fc='"fc.weight":{"dtype":"F32","shape":[10,784],"data_offsets":[0,31360]}'
weights ours.safetensors "\"__metadata__\":{\"model\":\"softmax_784\"},$fc" 31360 31400
weights torch.safetensors "$fc" 31360 31400 module.
weights short.safetensors "$fc" 31360 31000
weights fewer.safetensors '"fc.weight":{"dtype":"F32","shape":[10,100],"data_offsets":[0,4000]}' 4000 4040 module.
weights more.safetensors "${fc/fc.weight/fc2.weight},${fc//\[0,31360\]/[31360,62720]}" 62720 62760
printf '%s\n' 'name: weights' 'model: softmax_784' 'data: {set: digits}' 'train: {global_batch: 64, epochs: 1}' \
    'measure: {time: {launches: 0}, accuracy: {seeds: [1]}}' >"$tmp/weights.yaml"
for file in ours torch; do
    check "weights of the network are accepted: $file" expect 0 "1 accuracy run" \
        "$scalebench" plan "$tmp/weights.yaml" --set "checkpoint.start=$tmp/$file.safetensors"
done
while IFS='|' read -r file set message <&3; do
    check "weights of another network: $file $set" expect 2 "$tmp/$file.safetensors$message" \
        "$scalebench" plan "$tmp/weights.yaml" --set "checkpoint.${set%% *}=$tmp/$file.safetensors ${set#* }"
done 3<<'END'
ours|start model=lenet_21k| has weights of model softmax_784, which do not fit model lenet_21k: expected tensor 'conv1.weight' of shape [10,1,5,5], found none. Use a file whose tensors fit lenet_21k, or change option model
ours|resume model=lenet_21k| has weights of model softmax_784, which do not fit
torch|start model=lenet_21k| has weights of another model, which do not fit model lenet_21k: expected tensor
fewer|start | has weights of another model, which do not fit model softmax_784: expected tensor 'fc.weight' of shape [10,784], found F32 [10,100]
more|start | has weights of another model, which do not fit model softmax_784: tensor 'fc2.weight' is of no layer
short|start |: offset 31
END
check "trainer: weights of another network" \
    expect 2 "the file has weights of model softmax_784, but the model is lenet_21k: tensor 'conv1.weight' is missing" \
    "$train_cnn" --model lenet_21k --train.global_batch 100 --data.set digits --run accuracy --checkpoint.start "$tmp/ours.safetensors"
# Outputs are checked by name before the first step, and the check leaves no file.
mkdir "$tmp/there"
for option in "--record $tmp/nowhere" "--predictions $tmp/nowhere/classes.txt" \
    "--checkpoint.every_epochs 1 --checkpoint.path $tmp/nowhere/c.safetensors" "--record /dev/null"; do
    # shellcheck disable=SC2086 # options and their values
    check "trainer: ${option%% /*} where nothing can be written" \
        expect 2 "; expected a path in a folder that exists" train --data.set digits $option
done
check "the folder of records is named with its option" expect 2 "train_cnn: --record: $tmp/nowhere/rank.0.jsonl" \
    train --data.set digits --record "$tmp/nowhere"
check "a file that can be written is not left behind by the look" expect 2 "cannot be written" \
    train --data.set digits --record "$tmp/there" --predictions "$tmp/nowhere/classes.txt"
check "refused commands leave no files" rmdir "$tmp/there"
check "comm_sweep: a table that cannot be written" expect 1 "comm_sweep: $tmp/nowhere/comm.csv: cannot be written" \
    "$mpiexec" -n 1 "$build/comm_sweep" --gradients 4B --record "$tmp/nowhere"
data_are_looked_at() {
    local command
    mkdir "$tmp/empty"
    for command in plan run; do
        expect 2 "$tmp/torn.yaml:3:14: data.path: $tmp/mnist/train-images-idx3-ubyte: byte 0: magic number" \
            "$scalebench" "$command" "$tmp/torn.yaml" --out "$tmp/results" &&
            expect 2 "SET:1:11: data.path: $tmp/none: cannot be opened: No such file or directory; expected a folder with the files of mnist, or auto" \
                "$scalebench" "$command" "$tmp/torn.yaml" --out "$tmp/results" --set "data.path=$tmp/none" &&
            expect 2 "SET:1:11: data.path: $tmp/empty: no files of mnist found; expected train-images" \
                "$scalebench" "$command" "$tmp/torn.yaml" --out "$tmp/results" --set "data.path=$tmp/empty" || return 1
    done
    [ ! -e "$tmp/results/torn" ]
}
check "campaign: unreadable data are refused with their place" data_are_looked_at
# Failed downloads and mixed-up files: plan and run reject them and start nothing.
put() { # file of the set, contents for printf
    # shellcheck disable=SC2059 # a format on purpose
    printf "$2" >"$tmp/mnist/$1"
}
slips_are_named() {
    local command images=train-images-idx3-ubyte labels=train-labels-idx1-ubyte word
    for command in plan run; do
        refused() { # message about the training images
            expect 2 "$tmp/torn.yaml:3:14: data.path: $tmp/mnist/$images: $1" \
                "$scalebench" "$command" "$tmp/torn.yaml" --out "$tmp/results"
        }
        for word in '<!DOCTYPE html' '<html'; do
            put "$images" "  $word lang=\"en\"><head>"
            refused "begins with '$word' like a web page; expected IDX. Download the file again" || return 1
            gzip -c "$tmp/mnist/$images" >"$tmp/packed" && mv "$tmp/packed" "$tmp/mnist/$images"
            refused "begins with '$word' like a web page; expected IDX. Download the file again" || return 1
        done
        put "$images" 'version https://git-lfs.github.com/spec/v1'
        refused "begins with 'version https://git-lfs' like a pointer of Git LFS; expected IDX. Run git lfs pull" || return 1
        put "$images" '\0\0\10\1\0\0\0\4\1\2\3\4'
        refused "byte 0: found labels, expected images; is this file swapped with $tmp/mnist/$labels?" || return 1
        put "$images" '\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\1ab'
        put "$labels" '\0\0\10\1\0\0\0\3\1\2\3'
        put t10k-images-idx3-ubyte '\0\0\10\3\0\0\0\1\0\0\0\1\0\0\0\1a'
        put t10k-labels-idx1-ubyte '\0\0\10\1\0\0\0\1\1'
        refused "found 2 images, but $tmp/mnist/$labels has 3 labels; expected one label for each image" || return 1
    done
    [ ! -e "$tmp/results/torn" ]
}
check "campaign: web pages, pointers and mixed up files are named" slips_are_named
check "spec that is not there" expect 2 "nowhere.yaml" "$scalebench" run nowhere.yaml
check "unknown option in --set" expect 2 "SET:1:" "$scalebench" plan quick.yaml --set "train.lrr=1"

each_set_counts() {
    expect 2 "SET:2:2: train: 'lrr' is unknown" "$scalebench" plan quick.yaml --set "train.lr=1" --set " train.lrr=1" &&
        expect 0 " --train.lr=0.25 " "$scalebench" plan quick.yaml --set "train.lr=0.5 seed=7" --set train.lr=0.25 --commands &&
        grep -q -- " --seed=7 " "$tmp/expect.log"
}
# A late mistake in the file is an error unless SET changes the amount of data.
stays_late() {
    printf 'name: late\nmodel: softmax_784\ndata: {set: digits}\ntrain: {global_batch: 64, epochs: 2}\ncheckpoint: {every_epochs: 3}\n%s' \
        'measure: {accuracy: {seeds: [1]}}' >"$tmp/late.yaml"
    expect 2 "late.yaml:5:28: checkpoint.every_epochs = 3 has no effect" "$scalebench" plan "$tmp/late.yaml" \
        --set train.global_batch=32 && expect 0 "1 point" "$scalebench" plan "$tmp/late.yaml" --set train.epochs=1
}
check "a condition that no point meets is refused with another SET, too" stays_late
check "a quick form without effect is refused with form=quick, too" expect 2 \
    "quick_repeats.yaml:5:8: quick: train.lr already has this value without quick. Leave out the option" \
    "$scalebench" plan bench/tests/bad/spec/quick_repeats.yaml --set form=quick
check "each of several --set counts, later ones over earlier ones" each_set_counts
# A site's file by its path in the current folder; sbatch's message, and a missing sbatch.
sbatch_is_heard() {
    local spec=$PWD/configs/quick.yaml
    mkdir -p "$tmp/batch/bin" && cp configs/sites/example.yaml "$tmp/batch/cl.yaml" || return 1
    printf '#!/bin/sh\necho "sbatch: error: invalid partition" >&2\nexit 1\n' >"$tmp/batch/bin/sbatch"
    chmod +x "$tmp/batch/bin/sbatch"
    submit() {
        (cd "$tmp/batch" && PATH=$1 "$scalebench" submit "$spec" --site cl.yaml --out "$tmp/batch/out")
    }
    expect 3 "sbatch: error: invalid partition" submit "$tmp/batch/bin:$PATH" &&
        grep -q "sbatch refused the job with exit status 1" "$tmp/expect.log" &&
        expect 3 "cannot start sbatch. Run \`sbatch " submit "$tmp/nowhere" &&
        expect 2 "--site cl: found neither a file of this name nor configs/sites/cl.yaml" "$scalebench" submit quick.yaml --site cl
}
# No point fits the nodes of the site, by ranks or by threads.
no_job_for_nothing() {
    local why="no remaining point fits a job of 4 nodes with 2 cores per node (limits in configs/sites/example.yaml): 'ranks="
    expect 3 "a point needs 32 nodes, but configs/sites/example.yaml allows at most 4 nodes per job. Leave the point out" \
        "$scalebench" submit strong_scaling --site example --dry-run --set "matrix.ranks=[2,64]" --out "$tmp/results" &&
        expect 3 "${why}1 none nodes=1' needs 64 cores per node. Correct the limit \`cores\`" "$scalebench" submit strong_scaling --site example --dry-run \
            --set place.threads_per_rank=64 --out "$tmp/results" &&
        printf 'nodes: 4\n' >"$tmp/coreless.yaml" &&
        expect 0 "coreless.yaml does not state \`cores\`: 1 core per node is assumed" "$scalebench" submit quick \
            --site "$tmp/coreless.yaml" --dry-run --out "$tmp/results" --set "matrix.ranks=[1] place.oversubscribe=allow" &&
        printf 'launcher: mpirun\n' >"$tmp/mpirun.yaml" &&
        expect 2 "mpirun.yaml:1:11: launcher: 'mpirun' is unknown" "$scalebench" submit strong_scaling \
            --site "$tmp/mpirun.yaml" --dry-run
}
# Simulated points need no job, and emulated hosts share one node.
jobs_have_nodes_that_are_used() {
    local spec=configs/examples/why.yaml
    expect 0 "only simulated points are missing, which need no job. Run them here: scalebench run $spec" \
        "$scalebench" submit "$spec" --site example --dry-run --out "$tmp/results" &&
        expect 0 "#SBATCH --nodes=1" "$scalebench" submit quick --site example --dry-run --out "$tmp/results" \
            --set "site=emulated nodes=2 matrix.ranks=[2] baseline={ranks: 2}" &&
        expect 3 "allows at most 4 nodes per job. Leave the point out" "$scalebench" submit quick --site example --dry-run --out "$tmp/results" \
            --set "nodes=8 matrix.ranks=[8] baseline={ranks: 8} place.oversubscribe=allow" && ! grep oversubscribe "$tmp/expect.log"
}
check "submit asks for nodes that the points use" jobs_have_nodes_that_are_used
check "submit refuses a cluster on which no point fits" no_job_for_nothing
check "submit prints the message of sbatch, and reads a cluster by its path" sbatch_is_heard
check "points that cannot run here" expect 3 "no point" "$scalebench" run quick.yaml \
    --set "matrix.ranks=[128] baseline={ranks: 128}" --out "$tmp/results"
finish
