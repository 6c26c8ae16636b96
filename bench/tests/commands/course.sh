#!/usr/bin/env bash
# Runs the commands of the course's page in their order, campaigns in their short form. Tests that each number among the
# answers is in the row that it links to.
# tier: rest
# cores: 2
# seconds: 180
set -u
. bench/tests/lib/tap.sh
page=configs/course/README.md
export SCALEBENCH_OUT=$tmp/results

course_line() { # words of a command line
    case "$1 $2" in
    "make bench")
        local form=form=quick
        [ "$3" != CONFIG=quick.yaml ] || form=measure.time.launches=1..1
        "$scalebench" run "configs/${3#CONFIG=}" --set "$form"
        ;;
    "build/scalebench check") "$scalebench" check "${3}_quick" "${@:4}" ;;
    build/scalebench\ *) "$scalebench" "${@:2}" ;;
    *) false ;;
    esac >"$tmp/line.log" 2>&1 </dev/null || { echo "$*"; cat "$tmp/line.log"; return 1; }
}

has_commands() { # how many at least of a kind
    [ "$(grep -c "^$2" "$tmp/commands")" -ge "$1" ] || { echo "fewer than $1: $2"; return 1; }
}

# A run of another task must violate the conditions.
checks_tell_tasks_apart() {
    expect 1 "violated" "$scalebench" check course_same_sum_quick --file configs/course/gradients.checks
}

answers_are_in_their_rows() {
    python3 - "$page" <<'PY'
import csv, os, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
links = re.findall(r"\[([0-9.]+(?: \[[^\]]*\])?)\]\(([^)#]*\.csv)#L(\d+)\)( [%M]?B?)?", page)
assert len(links) > 30, len(links)

def numbers_in(row):
    for cell in row:
        for part in re.findall(r"-?\d+\.?\d*(?:[eE]-?\d+)?", cell):
            yield float(part)

wrong = []
for words, path, line, unit in links:
    with open(os.path.join(os.path.dirname(sys.argv[1]), path), encoding="utf-8", newline="") as f:
        row = list(csv.reader(f))[int(line) - 1]
    cells = [number / 1e6 if unit == " MB" else number for number in numbers_in(row)]
    for word in re.findall(r"[0-9.]+", words):
        digits = len(word.partition(".")[2])
        if not any(f"{cell:.{digits}f}" == word for cell in cells):
            wrong.append(f"{path}:{line}: {word}")
assert not wrong, wrong
PY
}

awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$page" >"$tmp/commands"
check "the page has a campaign and a check for each task" eval \
    'has_commands 8 "make bench CONFIG=" && has_commands 7 "build/scalebench check "'
check "answers of the course are in the linked rows" answers_are_in_their_rows

ci/netns.sh probe >"$tmp/probe.log" 2>&1
case $? in
0)
    while IFS= read -r line; do
        # shellcheck disable=SC2086 # words of a command
        check "$line" course_line ${line%%#*}
    done <"$tmp/commands"
    check "a run of another task does not pass its check" checks_tell_tasks_apart
    ;;
3) lacks "the commands of the course" netns ;;
*) check "hosts can be had" sh -c "cat '$tmp/probe.log'; exit 1" ;;
esac
finish
