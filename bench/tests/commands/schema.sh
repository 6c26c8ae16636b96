#!/usr/bin/env bash
# Tests the JSON Schema for editors: it accepts every committed spec and rejects a wrong value or key.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh
. ci/files.sh

schema=configs/scalebench.schema.json

is_current() {
    "$scalebench" schema | diff "$schema" - >"$tmp/diff" && return
    head -n 5 "$tmp/diff"
    echo "make schema writes it anew"
    return 1
}

# Prints the schema's verdict on specs, one line each.
judge() { # spec...
    "$python" bench/tests/lib/validate.py "$schema" "$@"
}

takes_all() { # spec...
    judge "$@" >"$tmp/judged" && [ "$(wc -l <"$tmp/judged")" -eq $# ] && ! grep -v ' valid$' "$tmp/judged"
}

refuses() { # part of the message, file
    judge "$2" >"$tmp/judged" || return 1
    grep -qF -- "$1" "$tmp/judged" || { cat "$tmp/judged"; return 1; }
}

# Keys of each place, nested, dotted and mixed; unlimited values, and a default outside its range.
write_spec() {
    cat >"$tmp/every.yaml" <<'SPEC'
extends: [base.yaml, other.yaml]
name: every
x-base: &base {lr: 0.1, epochs: 3}
x-lists: [[&few "ranks > 1"], [{any: {thing: 1}}]]
train: {<<: *base, lr: 1e-3, global_batch: 0, shuffle: Off, nesterov: yes}
measure: {time.launches: 6, time: {steps: 30, precision: 2.5%}, accuracy.seeds: [1, 2], budget: 1h}
inject.steps: 1..20
matrix: {ranks: auto, train: {epochs: [1, 2]}, inject.ranks: [[0], [0, 1]]}
zip:
  - {nodes: [1, 1], sync.strategy: [ring, tree]}
exclude: [*few, {ranks: [1, 2], sync: {strategy: none}}]
baseline: {ranks: 1}
cases:
  - {label: one, site: emulated, matrix: {ranks: [1]}}
  - {label: two, workload: {command: [pi, "{n}"], options: {n: 1e6}}, matrix: {workload.options.m: [1, b]}}
figures: [time, {kind: line, y: wait_ms, x: epoch, published: {file: a.csv, values: [a = b]}}]
SPEC
}

# A wrong key or value, and its message.
refuses_the_wrong() {
    local wrong
    while IFS='|' read -r file wrong; do
        refuses "$wrong" "bench/tests/bad/spec/$file.yaml" || return 1
    done <<'WRONG'
unknown_key|'modle' does not match
unknown_in_group|'teacher' was unexpected
key_without_group|'lr' does not match
below_an_option|'train.lr.start' does not match
group_with_value|$.place: 'core' is not of type 'object'
boolean_word|$.train.shuffle: 'maybe'
key_near|'rank' does not match
zip_in_matrix|'zip' does not match
batch_too_large|greater than the maximum of 16777216
period_zero|less than the minimum of 1
unknown_strategy|$.sync.strategy: 'allredcue'
time_without_unit|$.measure.budget: 90
percent_without_sign|$.measure.time.precision: 5
list_outside_matrix|$.ranks: [1, 2]
auto_outside_matrix|$.ranks: 'auto'
matrix_scalar|$.matrix.ranks: 2
matrix_repeated|non-unique
matrix_campaign_key|'scaling' does not match
zip_auto|$.zip.ranks: 'auto'
exclude_map|$.exclude
baseline_list|$.baseline
case_without_label|'label' is a required property
case_campaign_key|'measure.budget' does not match
figure_unknown|$.figures[1]: 'speed-up'
WRONG
}

check "the committed schema is current" is_current
check "a schema takes no argument" expect 2 "one argument too many" "$scalebench" schema x
if python=$(python_with jsonschema,yaml); then
    mapfile -t specs < <(source_files 'configs/*.yaml' 'results/reference/*spec.yaml' |
        grep -vE '^configs/(models|sites)/' | xargs grep -L '^layers:') # networks are beside specs, too
    check "every committed spec is valid" takes_all "${specs[@]}"
    write_spec
    check "keys nested, dotted and in each place" takes_all "$tmp/every.yaml"
    check "a value that is wrong alone is refused" refuses_the_wrong
else
    lacks "specs against the schema" jsonschema
fi
finish
