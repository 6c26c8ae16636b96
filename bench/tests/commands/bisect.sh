#!/usr/bin/env bash
# Tests compare --bisect: its exit statuses, and the script of bench/collect/README.md under `git bisect run`.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

export SCALEBENCH_HOME=$PWD RESULTS=$tmp/bisected PATH=$build:$PATH
reference=results/reference/strong_scaling

# Writes a copy of the committed run in which points of two ranks take `factor` times as long.
run_at() { # name, factor
    cp -r "$reference" "$tmp/$1" && awk -F, -v OFS=, -v factor="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["ranks"] == 2 { $column["step_ms"] *= factor }
        { print }' "$reference/raw.csv" >"$tmp/$1/raw.csv"
}

bisect() { "$scalebench" compare --bisect strong_scaling "$@"; }

answers() {
    run_at slower 1.2 && run_at near 1.04 && run_at faster 0.8 && run_at fewer 1 && run_at fewer_slower 1.2 && run_at failed 1 || return 1
    expect 0 "1 same" bisect "$tmp/faster" --margin 10% || return 1
    expect 1 "2 slower" bisect "$tmp/slower" || return 1
    expect 125 "3 undecided" bisect "$tmp/near" || return 1
    for run in fewer fewer_slower; do
        sed -i '2d' "$tmp/$run/summary.csv" || return 1
    done
    expect 125 "2 same" bisect "$tmp/fewer" --margin 10% || return 1
    expect 1 "2 slower" bisect "$tmp/fewer_slower" || return 1
    sed -i 's/,time,\([0-9]*\),\([0-9]*\),ok,/,time,\1,\2,failed,/; 2s/,failed,/,ok,/' "$tmp/failed/raw.csv" || return 1
    awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 { $column["launches"] = 0; $column["status"] = "failed" } { print }' "$reference/summary.csv" >"$tmp/failed/summary.csv"
    expect 125 "No value in $tmp/failed" bisect "$tmp/failed" || return 1
    expect 125 "nothing to compare" bisect winograd
}
check "slower is 1, same or faster 0, everything else 125" answers

stops_after_an_error() {
    expect 128 "'nowhere' is not a run" bisect nowhere || return 1
    expect 128 "'--margn' is not an option" bisect "$tmp/near" --margn 10% || return 1
    expect 128 "if a point is undecided, --bisect exits with 125 (skip), but --strict with 1" bisect "$tmp/near" --strict
}
check "an error ends git bisect" stops_after_an_error

# Writes commits of a program that prints its own time: the fifth is slow, the second does not build, the third varies.
commit_programs() {
    local i time
    mkdir "$tmp/program" && cd "$tmp/program" && git init -q . && git config user.name t && git config user.email t@t || return 1
    for i in 1 2 3 4 5 6 7; do
        time=$(((i < 5) ? 10 : 13))
        printf 'all:\n\t%s\n' "$([ "$i" -eq 2 ] && echo false || echo true)" >Makefile
        # shellcheck disable=SC2016 # expands in the program
        [ "$i" -ne 3 ] || time='$((8 + $(date +%N | cut -c 9) % 8))'
        printf '#!/bin/sh\n# commit %s\necho "step %s ms"\n' "$i" "$time" >program
        chmod +x program && git add . && git commit -q -m "commit $i" || return 1
    done
    cat >../speed.yaml <<'END'
name: speed
workload: {command: [./program], metrics: ['t_ms = step ([\d.]+) ms'], time: t_ms}
place: {oversubscribe: allow}
measure: {time: {launches: 6..6}}
figures: []
END
    # Other programs do not change the times that this program prints.
    awk '$0 == "```bash" { inside = 1; next } /^```/ { inside = 0 } inside' "$SCALEBENCH_HOME/bench/collect/README.md" |
        sed 's/ --bisect / --bisect --count-disturbed /' >../bisect.sh
}

finds_the_commit() {
    local slow
    (commit_programs) && cd "$tmp/program" && slow=$(git rev-parse HEAD) && git checkout -q HEAD~6 &&
        "$scalebench" run ../speed.yaml --out "$RESULTS/good" && git bisect start "$slow" HEAD || return 1
    git bisect run sh ../bisect.sh >"$tmp/bisect.log" 2>&1
    cat "$tmp/bisect.log"
    [ "$(git log -1 --format=%s refs/bisect/bad)" = "commit 5" ]
}
if command -v git >/dev/null; then
    check "the script of the page finds the slow commit" finds_the_commit
else
    lacks "the script of the page finds the slow commit" git
fi
finish
