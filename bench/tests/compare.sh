#!/usr/bin/env bash
# Tests scalebench compare and check as users and build servers use them: on runs of a fake workload, on copies of committed
# runs, in every format.
# cores: 1
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/committed.sh

mkdir -p "$tmp/bin" "$tmp/results"
cp "$build/scalebench" "$build/pin" "$tmp/bin"
ln -s "$PWD/bench/tests/lib/fake_trainer.sh" "$tmp/bin/train_cnn"
for folder in configs plots; do ln -s "$PWD/$folder" "$tmp/$folder"; done
fake=$tmp/bin/scalebench

cat >"$tmp/fake.yaml" <<END
name: fake
scaling: strong
model: softmax_784
data: {set: digits}
train: {optimizer: sgd, lr: 0.01, global_batch: 100}
matrix:
  ranks: [1, 2]
measure:
  time: {warmup_steps: 1, steps: 1, launches: 6..6}
figures: []
place: {oversubscribe: allow, bind: none}
END

compare() { "$scalebench" compare "$@" --out "$tmp/results"; }

# Multiplies step_ms of points with this number of ranks.
slow_down() { # run, ranks, factor
    awk -F, -v OFS=, -v ranks="$2" -v factor="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["ranks"] == ranks { $column["step_ms"] *= factor }
        { print }' "$1/raw.csv" >"$1/raw.new" && mv "$1/raw.new" "$1/raw.csv"
}

reference=results/reference/strong_scaling

step=$(cell step_ms_median 1 none)

calculate() { # expression
    awk "BEGIN { printf \"%.4g\\n\", $1 }"
}

cp -r "$reference" "$tmp/slower"
slow_down "$tmp/slower" 2 1.15

is_itself() {
    expect 0 "3 same, 0 undecided of 3 points" compare strong_scaling "$reference" || return 1
    expect 0 "strong_scaling is compared with itself: nothing but noise can differ" compare strong_scaling strong_scaling || return 1
    expect 0 "warning: strong_scaling is compared with itself" compare strong_scaling strong_scaling --format csv || return 1
    expect 0 "warning: strong_scaling is compared with itself" compare strong_scaling strong_scaling --format junit
}
check "a run is the same as itself" is_itself

tells_what_is_slower() {
    expect 1 "2 slower" compare strong_scaling "$tmp/slower" || return 1
    expect 0 "2 faster" compare "$tmp/slower" strong_scaling || return 1
    expect 1 "2 worse" compare strong_scaling "$tmp/slower" --quantity speedup || return 1
    expect 0 "deviate by 1.5 %, the default" compare "$tmp/slower" strong_scaling || return 1
    expect 0 "Noise floor: none" compare "$tmp/slower" strong_scaling --floor 0% || return 1
    expect 0 "0 slower" compare strong_scaling "$tmp/slower" --floor 20% || return 1
    expect 1 "" compare strong_scaling "$tmp/slower" --floor 20% --strict || return 1
    expect 0 "3 same" compare strong_scaling "$tmp/slower" --margin 25%
}
check "slower points fail, undecided points only with --strict" tells_what_is_slower

# 15 % slower while other programs computed: not called slower, and not passed with --strict.
leaves_neighbours_out() {
    local launches
    launches=$(cell launches 2 none)
    cp -r "$tmp/slower" "$tmp/busy"
    sed -e '1s/,disturbed/,seen/' -e '1s/$/,disturbed/' -e '2,$s/$/,foreign 31 %/' "$tmp/slower/raw.csv" >"$tmp/busy/raw.csv"
    expect 0 "$launches of $launches at ranks=2 none" compare strong_scaling "$tmp/busy" || return 1
    expect 0 "most launches of the run were disturbed" compare strong_scaling "$tmp/busy" || return 1
    expect 1 "3 undecided" compare strong_scaling "$tmp/busy" --strict || return 1
    expect 1 "2 slower" compare strong_scaling "$tmp/busy" --count-disturbed
}
check "launches that a neighbour disturbed fail nothing and pass nothing" leaves_neighbours_out

units_of_two_names() {
    expect 0 "1 hold" "$scalebench" check strong_scaling "rss_mib > bytes_wire where ranks = 2" || return 1
    expect 2 "'step_ms < speedup': step_ms has the unit ms, but speedup has no unit" "$scalebench" check strong_scaling "step_ms < speedup" || return 1
    printf 'ranks > 0\nspeedup > 1.8ms\n' >"$tmp/units.txt"
    expect 2 "units.txt:2: 'speedup > 1.8ms': speedup has no unit" "$scalebench" check strong_scaling --file "$tmp/units.txt" || return 1
    expect 2 "speedup has no unit, but 2ms has the unit ms" "$scalebench" check strong_scaling "speedup + 1 > 2ms" || return 1
    expect 2 "images_per_s has the unit images/s, but speedup has no unit" "$scalebench" check strong_scaling "images_per_s > speedup" || return 1
    expect 2 "both sides are equal" "$scalebench" check strong_scaling "speedup + 1 > speedup + 1" || return 1
    expect 0 "1 hold" "$scalebench" check strong_scaling "2 * step_ms + 1s > 1000.5ms and 1000 * launches_s > step_ms" || return 1
    expect 1 "violated" "$scalebench" check strong_scaling "2 * step_ms > launches_s" || return 1
    expect 0 "1 hold" "$scalebench" check strong_scaling "speedup > 0.1 * ranks and images_per_s / ranks > 1"
}
check "two names are compared in one unit" units_of_two_names

compares_several() {
    local wide
    wide=$(COLUMNS=60 compare strong_scaling "$tmp/slower" strong_scaling "$tmp/slower" | wc -L)
    [ "$wide" -le 60 ] || {
        echo "$wide columns"
        return 1
    }
    expect 1 "verdict 3" compare strong_scaling "$tmp/slower" strong_scaling "$tmp/slower"
}
check "several runs fit a terminal" compares_several

# Checks every format with its usual readers.
writes_formats() {
    local format
    for format in text csv markdown latex junit; do
        compare strong_scaling "$tmp/slower" --format "$format" --output "$tmp/out.$format"
        [ -s "$tmp/out.$format" ] || return 1
    done
    python3 -c 'import csv, sys; rows = list(csv.reader(open(sys.argv[1]))); assert {len(row) for row in rows} == {len(rows[0])}, rows' \
        "$tmp/out.csv" || return 1
    grep -q '^|---:|' "$tmp/out.markdown" && grep -q '^\\end{tabular}' "$tmp/out.latex"
}
check "every format is written" writes_formats

# --output writes to a pipe; an existing file keeps its permissions.
writes_into_what_is_there() {
    local mode
    mkfifo "$tmp/pipe" && echo old >"$tmp/kept.csv" && chmod 640 "$tmp/kept.csv" || return 1
    cat "$tmp/pipe" >"$tmp/piped" &
    compare strong_scaling "$tmp/slower" --format csv --output "$tmp/pipe"
    wait $!
    compare strong_scaling "$tmp/slower" --format csv --output "$tmp/kept.csv"
    mode=$(stat -c %a "$tmp/kept.csv")
    [ -p "$tmp/pipe" ] && cmp "$tmp/piped" "$tmp/out.csv" && cmp "$tmp/kept.csv" "$tmp/out.csv" && [ "$mode" = 640 ]
}
check "a pipe is written into, a file keeps its permissions" writes_into_what_is_there

# Removes files of killed writers; keeps files of running writers and files with other names.
removes_what_killed_writers_left() {
    local file=$tmp/killed.xml held left
    touch "$file.4711.tmp" "$file.4712.tmp" "$file.tmp" "$file.x1.tmp" "$tmp/other.xml.4711.tmp" || return 1
    exec {held}>>"$file.4712.tmp" && flock -n "$held" || return 1
    "$scalebench" check strong_scaling "status = ok" --output "$file" || return 1
    left=$(cd "$tmp" && printf '%s ' killed.xml* other.xml*)
    exec {held}>&-
    echo "$left"
    [ "$left" = "killed.xml killed.xml.4712.tmp killed.xml.tmp killed.xml.x1.tmp other.xml.4711.tmp " ]
}
check "parts of files left by killed writers are removed by the next writer" removes_what_killed_writers_left

# Each column of the file has a line.
explains_columns() {
    local column
    "$scalebench" list columns | sed -n '/^compare.csv: /,$p' >"$tmp/columns" || return 1
    for column in $(head -1 "$tmp/out.csv" | tr , ' '); do
        grep -q "^ *$column " "$tmp/columns" || {
            echo "no $column"
            return 1
        }
    done
    expect 0 "between_sd in compare.csv" "$scalebench" explain between_sd || return 1
    expect 2 "nearest 'between_degrees'" "$scalebench" explain between_degree
}
explains_keys_of_yaml() {
    expect 0 "Merges a map, or a list of maps" "$scalebench" explain "<<" &&
        expect 0 "for example to hold anchors" "$scalebench" explain x-
}
check "the dictionary has the columns of a comparison" explains_columns
check "keys of YAML are explained" explains_keys_of_yaml

if command -v python3 >/dev/null; then
    cat >"$tmp/junit.py" <<'END'
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
suites = root.findall("testsuite")
assert root.tag == "testsuites" and suites
for suite in suites:
    tests = suite.findall("testcase")
    assert int(suite.get("tests")) == len(tests)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
assert int(root.get("failures")) == int(sys.argv[2]), root.attrib
assert sys.argv[3] in "".join(root.itertext()) + str([t.attrib for t in root.iter()])
END
    reads_junit() {
        "$scalebench" compare strong_scaling "$tmp/slower" --format junit --output "$tmp/a.xml"
        "$scalebench" check strong_scaling 'strategy != "a<&>'\''"' "speedup > 3 where ranks = 2" --format junit --output "$tmp/b.xml"
        python3 "$tmp/junit.py" "$tmp/a.xml" 2 "step_ms is slower" &&
            python3 "$tmp/junit.py" "$tmp/b.xml" 1 "a<&>"
    }
    check "output for build servers is XML with the right counts" reads_junit
else
    lacks "output for build servers is XML with the right counts" python3
fi

refuses() {
    expect 2 "expected two runs, found only" compare strong_scaling || return 1
    expect 2 "'nowhere' is not a run" compare strong_scaling nowhere || return 1
    expect 2 "expected a percentage from 0% to below 100%, such as 2%, found '2'" compare strong_scaling strong_scaling --margin 2 || return 1
    expect 2 "expected a percentage from 50% to below 100%" compare strong_scaling strong_scaling --level 100% || return 1
    expect 2 "nearest 'step_ms'" compare strong_scaling strong_scaling --quantity step_m || return 1
    expect 2 "known: text csv markdown latex junit" compare strong_scaling strong_scaling --format pdf || return 1
    expect 2 "needs published.file, which is missing in the spec of this run" compare strong_scaling published || return 1
    expect 2 "compare with these published numbers. Add the folder" compare published published || return 1
    expect 2 "'$reference/summary.csv' is a table of the run $reference. Give the run's folder or name" \
        compare "$reference/summary.csv" "$reference" || return 1
    expect 2 "'$tmp/none.csv' is neither a run nor a CSV file of published numbers for strong_scaling: " \
        compare "$tmp/none.csv" strong_scaling || return 1
    expect 2 "found sweeps: 'results/reference/comm' is a sweep (comm.csv), 'strong_scaling' is not; " \
        compare results/reference/comm strong_scaling || return 1
    expect 2 "found sweeps: 'kernels' is a sweep (kernels.csv); " compare kernels || return 1
    expect 2 "results/reference/comm is a sweep, not a run of a campaign; \`scalebench table results/reference/comm/comm.csv\`" \
        "$scalebench" check results/reference/comm "status = ok" || return 1
    expect 3 "nothing to compare: no point of 'strong_scaling' (such as 'ranks=1 none') matches a point of another run" \
        compare strong_scaling winograd || return 1
    mkdir "$tmp/torn" && cp "$reference/summary.csv" "$tmp/torn" || return 1
    expect 2 "raw.csv: table not found" compare strong_scaling "$tmp/torn" || return 1
    sed '$d' "$reference/raw.csv" >"$tmp/torn/raw.csv"
    expect 2 "as in summary.csv, found" compare strong_scaling "$tmp/torn" || return 1
    echo 'launch,point' >"$tmp/torn/raw.csv"
    expect 2 "raw.csv:1: " compare strong_scaling "$tmp/torn" || return 1
    expect 2 "/no/such/folder/x: cannot be written" compare strong_scaling strong_scaling --output /no/such/folder/x || return 1
    expect 2 "compare: --as-measured has no effect on test_acc_pct; leave it out" "$scalebench" compare "$tmp/slower" strong_scaling \
        --quantity test_acc_pct --as-measured || return 1
    expect 2 "compare: --count-disturbed has no effect on test_acc_pct; leave it out" "$scalebench" compare "$tmp/slower" \
        strong_scaling --quantity test_acc_pct --count-disturbed || return 1
    expect 2 "'-x' is not an option" "$scalebench" compare -xy strong_scaling || return 1
    expect 2 "'--quantty' is not an option; nearest '--quantity'; " "$scalebench" compare --quantty x strong_scaling || return 1
    expect 2 "'--help=1' takes no value" "$scalebench" compare --help=1 strong_scaling || return 1
    cp -r "$reference" "$tmp/run.csv" && expect 0 "same" compare strong_scaling "$tmp/run.csv"
}
check "bad input is refused with the reason" refuses

# Published numbers in milliseconds are compared with seconds of the file.
compares_published() {
    cp -r "$reference" "$tmp/ours" || return 1
    cat >"$tmp/theirs.csv" <<END
# a report
processes,step_s
1,$(calculate "$step / 1000")
2,$(calculate "2 * $(cell step_ms_median 2 allreduce) / 1000")
END
    cp "$tmp/theirs.csv" "$tmp/ours/theirs.csv"
    cat >>"$tmp/ours/spec.yaml" <<'END'
published: {file: theirs.csv, keys: [ranks = processes], values: [step_ms_median = step_s * 1000]}
END
    sed -i '/^published\./d' "$tmp/ours/spec.yaml"
    expect 0 "1 faster" compare published "$tmp/ours" --margin 5% --level 90% || return 1
    grep -q "^published .*disturbed" "$tmp/expect.log" && return 1
    expect 0 "Numbers from other machines are only comparable as ratios" compare published "$tmp/ours" || return 1
    expect 0 "Each of 2 intervals holds at 95 %, not all together" compare published "$tmp/ours" || return 1
    expect 1 "intervals holds at 95 %, not all together" compare "$tmp/ours" published || return 1
    expect 1 "slower" compare "$tmp/ours" published --level 90% || return 1
    mv "$tmp/theirs.csv" "$tmp/their numbers.csv" && expect 0 "1 faster" compare "$tmp/their numbers.csv" "$tmp/ours" --level 90%
}
check "published numbers compare, too" compares_published

# The compared runs are not among them.
knows_repetitions() {
    for _ in 1 2 3 4; do
        "$fake" run "$tmp/fake.yaml" --out "$tmp/results" --fresh >"$tmp/run.txt" 2>&1 || {
            cat "$tmp/run.txt"
            return 1
        }
    done
    runs=("$tmp"/results/fake/2*)
    [ "${#runs[@]}" -eq 4 ] || return 1
    expect 0 "estimated from 3 campaigns and the default" compare --as-measured "${runs[0]}" "${runs[1]}" || return 1
    expect 0 "is averaged with its 2 repetitions" compare --as-measured "${runs[0]}" "${runs[1]}" || return 1
    expect 0 "18 in 3" compare "${runs[0]}" "${runs[1]}" || return 1
    expect 0 "estimated from 2 campaigns and the default" compare --as-measured "${runs[0]}" "${runs[1]}" "${runs[2]}" || return 1
    expect 0 "differ by 20 % (--floor)" compare "${runs[0]}" "${runs[1]}" --floor 20% || return 1
    expect 0 "0 slower" compare --as-measured "${runs[0]}" fake
}
check "repetitions of a run show the variation between campaigns" knows_repetitions

checks() {
    local low high within
    low=$(calculate "0.99 * $(printf '%s\n' "$(cell speedup_lo 2 none)" "$(cell speedup_lo 2 allreduce)" | sort -g | head -n 1)")
    high=$(calculate "1.01 * $(cell speedup_hi 2 allreduce)")
    within=$(calculate "$step")
    expect 0 "holds      speedup >= $low where ranks=2  (2 points)" \
        "$scalebench" check strong_scaling "speedup >= $low where ranks=2" || return 1
    expect 1 "violated   ranks=2 allreduce: speedup 1." \
        "$scalebench" check strong_scaling "speedup >= $high where ranks=2" || return 1
    expect 0 "undecided  ranks=1 none: step_ms $(interval 4 step_ms_median step_ms 1 none)" \
        "$scalebench" check strong_scaling "step_ms < $within where ranks=1" || return 1
    expect 1 "0 violated" "$scalebench" check strong_scaling "step_ms < $within where ranks=1" --strict || return 1
    expect 0 "2 hold" "$scalebench" check "$reference" "status = ok" "train.optimizer = adam" || return 1
    expect 3 "the \`where\` matches no point of strong_scaling" "$scalebench" check strong_scaling "ranks > 1 where nodes = 7" || return 1
    expect 2 "'spedup' is neither a column of summary.csv nor a metric of the run nor an option; nearest 'speedup'" \
        "$scalebench" check strong_scaling "spedup > 1" || return 1
    expect 2 "'step_m' is neither a column of summary.csv nor a metric of the run nor an option; nearest 'step_ms'" \
        "$scalebench" check strong_scaling "ranks > 1 where step_m < 1" || return 1
    expect 2 "nearest 'sync.strategy'" "$scalebench" check strong_scaling "sync.stategy = none" || return 1
    expect 2 "'step_ms != fast': step_ms is a number: expected a number, found 'fast'" \
        "$scalebench" check strong_scaling "step_ms != fast" || return 1
    expect 2 "'step_ms >= 0': step_ms is always above 0: this always holds; expected another number" \
        "$scalebench" check strong_scaling "step_ms >= 0" || return 1
    expect 2 "'efficiency >= 90': efficiency is a share of 1: for 90 % write 0.9 or 90%" \
        "$scalebench" check strong_scaling "efficiency >= 90" || return 1
    expect 2 "'test_acc_pct >= 0.97': test_acc_pct is 10 by chance with 10 classes and never above 100: this always" \
        "$scalebench" check strong_scaling "test_acc_pct >= 0.97" || return 1
    expect 2 "'speedup >= 2 and speedup <= 1': this never holds for any speedup" \
        "$scalebench" check strong_scaling "speedup >= 2 and speedup <= 1" || return 1
    expect 2 "'speedup >= 1 where ranks = 1': every matching point is its own base" \
        "$scalebench" check strong_scaling "speedup >= 1 where ranks = 1" || return 1
    expect 2 "'status = ok' is given twice" "$scalebench" check strong_scaling "status = ok" "status = ok" || return 1
    expect 2 "'train_acc_pct > 200': train_acc_pct is 10 by chance with 10 classes and never above 100: this never holds" \
        "$scalebench" check strong_scaling "train_acc_pct > 200" || return 1
    expect 2 "'ranks > 1 where strategy > 1': strategy has no order. Use = or !=" \
        "$scalebench" check strong_scaling "ranks > 1 where strategy > 1" || return 1
    expect 2 "'overlap_share > 0.5': overlap_share: it needs measure.replay, which is 0 at every point" \
        "$scalebench" check strong_scaling "overlap_share > 0.5" || return 1
    expect 0 "3 hold" "$scalebench" check strong_scaling "step_ms * ranks < 1s where ranks + 1 > 2" "wait_ms < step_ms" \
        "speedup / ranks >= 50% and 1 < step_ms" || return 1
    expect 2 "'step_ms * rnks < 1s': 'rnks' is neither" "$scalebench" check strong_scaling "step_ms * rnks < 1s" || return 1
    expect 2 "sync.strategy is a text: expected a number" "$scalebench" check strong_scaling "sync.strategy + 1 > 2" || return 1
    expect 2 "sync.strategy: 'rign' is unknown; nearest 'ring'" "$scalebench" check strong_scaling "sync.strategy = rign" || return 1
    expect 2 "status: 'okay' is unknown; known: ok " "$scalebench" check strong_scaling "ranks > 1 where status = okay" || return 1
    expect 1 "violated   ranks=1 none: sync.strategy none" "$scalebench" check strong_scaling "sync.strategy = ring" || return 1
    expect 2 "expected RUN before the conditions, found the condition 'speedup > 1'" "$scalebench" check "speedup > 1" strong_scaling || return 1
    printf 'speedup > 1\nspedup > 1\n' >"$tmp/conditions.txt"
    expect 2 "conditions.txt:2: 'spedup > 1': 'spedup' is neither" "$scalebench" check strong_scaling --file "$tmp/conditions.txt" || return 1
    expect 2 "expected a condition, such as" "$scalebench" check strong_scaling || return 1
    printf '# what has to hold\n\n  speedup >= %s where ranks=2\nranks >> 1\n' "$low" >"$tmp/checks.txt"
    expect 2 "checks.txt:4:8: 'ranks >> 1'" "$scalebench" check strong_scaling --file "$tmp/checks.txt" || return 1
    sed -i '$d' "$tmp/checks.txt"
    expect 0 "1 hold" "$scalebench" check strong_scaling --file "$tmp/checks.txt"
}
check "check reports conditions that hold, fail or are undecided" checks

# A point whose ranks fail does not pass, and the message names it.
a_failed_point_fails() {
    local run=("$fake" run "$tmp/fake.yaml" --set "matrix.sync.strategy=[none,allreduce] matrix.ranks=[2] measure.time.launches=2..2 measure.retries=0")
    "${run[@]}" --out "$tmp/whole" || return 1
    FAKE_FAIL=allreduce expect 1 "failed" "${run[@]}" --out "$tmp/broken" || return 1
    expect 1 "violated   allreduce: step_ms unknown (failed: " "$scalebench" check "$tmp/broken/fake" "step_ms < 1000" || return 1
    expect 1 "<failure type=\"violated\" message=\"violated at allreduce: " \
        "$scalebench" check "$tmp/broken/fake" "step_ms < 1000" --format junit || return 1
    expect 1 "No value in $tmp/broken/fake, although $tmp/whole/fake has one: allreduce." \
        compare "$tmp/whole/fake" "$tmp/broken/fake" || return 1
    expect 1 "<testcase classname=\"step_ms of $tmp/broken/fake against $tmp/whole/fake\" name=\"allreduce\">" \
        compare "$tmp/whole/fake" "$tmp/broken/fake" --format junit || return 1
    grep -q '<failure type="failed"' "$tmp/expect.log"
}
check "a point that failed fails check and compare, by its name" a_failed_point_fails

# Conditions of a spec are checked before anything runs, and their verdicts are printed at the end.
a_spec_has_its_own() {
    local run=("$fake" run "$tmp/fake.yaml" --out "$tmp/checked")
    expect 2 "checks: 'spedup > 1': " "${run[@]}" --set 'checks=["spedup > 1"]' || return 1
    expect 2 "checks: 'ranks >> 1 where nodes = 1': " "${run[@]}" --set 'checks=["ranks >> 1 where nodes = 1"]' || return 1
    expect 2 "checks: 'test_acc_pct > 90': test_acc_pct: it needs accuracy runs, but measure.accuracy.seeds is []" \
        "${run[@]}" --set 'checks=["test_acc_pct > 90"]' || return 1
    expect 2 "checks: 'overlap_share > 0.5': overlap_share: it needs measure.replay, which is 0 at every point" \
        "${run[@]}" --set 'checks=["overlap_share > 0.5"]' || return 1
    expect 2 "checks: 'bubble_pct < 20': bubble_pct: it needs parallel.pipeline, which is 1 at every point" \
        "${run[@]}" --set 'checks=["bubble_pct < 20"]' || return 1
    expect 2 "checks: 'change_s < 3': change_s: it needs elastic, which is [] at every point" \
        "${run[@]}" --set 'checks=["change_s < 3"] measure.accuracy.seeds=[1]' || return 1
    expect 2 "checks: 'train.optimizer = sgd': this condition depends only on the spec, not on a measurement. Use a measured value" \
        "${run[@]}" --set 'checks=["train.optimizer = sgd"]' || return 1
    expect 2 "checks: 'comm_pct < 120': comm_pct is never below 0 nor above 100: this always holds; expected another number" \
        "${run[@]}" --set 'checks=["comm_pct < 120"]' || return 1
    expect 2 "checks: 'speedup > 1 where ranks = 1': every matching point is its own base" \
        "${run[@]}" --set 'checks=["speedup > 1 where ranks = 1"]' || return 1
    expect 2 "checks: 'speedup = fast': speedup is a number: expected a number, found 'fast'" \
        "${run[@]}" --set 'checks=["speedup = fast"]' || return 1
    [ ! -e "$tmp/checked" ] || return 1
    expect 0 "2 hold, 0 undecided, 0 violated" "${run[@]}" \
        --set 'checks=["step_ms > 1e-3 where ranks = 2", "status = ok"]' || return 1
    expect 1 "violated   step_ms > 1e9 where ranks = 2  (1 point)" "${run[@]}" \
        --set 'checks=["step_ms > 1e9 where ranks = 2"]' || return 1
    [ "$(find "$tmp/checked/fake" -name manifest.json | wc -l)" -eq 1 ] # another condition is the same run
}
check "a spec has checks of its own" a_spec_has_its_own

# The file determines the points; values of the machine or of SET are checked in the run.
no_point_is_so() {
    local text="the \`where\` matches no point of the spec" run=("$scalebench" plan "$tmp/checked.yaml" --out "$tmp/checked")
    for where in "sync.strategy = tree" "strategy = rign" "ranks = 3" "case = ours"; do
        cp "$tmp/fake.yaml" "$tmp/checked.yaml"
        printf 'checks: ["step_ms > 1e-3 where %s"]\n' "$where" >>"$tmp/checked.yaml"
        expect 2 "$tmp/checked.yaml:12:9: checks: 'step_ms > 1e-3 where $where': $text" "${run[@]}" || return 1
    done
    expect 0 "1 point" "${run[@]}" --set 'matrix.ranks=[1] checks=["step_ms > 1e-3 where ranks = 2"]' || return 1
    expect 0 "2 points" "${run[@]}" --set 'checks=["step_ms > 1e-3 where step_ms > 1e9 or ranks = 3"]' || return 1
    expect 0 "2 points" "${run[@]}" --set 'checks=["step_ms > 1e-3 where not ranks = 1 and strategy = allreduce"]'
}
check "a where that no point matches is refused before a launch" no_point_is_so

# A run does not answer for a spec that has changed since: there is a note, and --strict fails.
a_changed_spec_is_noted() {
    local note="has no point of $tmp/changed.yaml (train.optimizer: sgd then, adam now): its results are of the earlier spec"
    cp "$tmp/fake.yaml" "$tmp/changed.yaml"
    "$fake" run "$tmp/changed.yaml" --out "$tmp/changed" || return 1
    expect 0 "holds" "$scalebench" check "$tmp/changed.yaml" "step_ms > 0.001" --out "$tmp/changed" || return 1
    ! grep "has no point of" "$tmp/expect.log" || return 1
    sed -i 's/optimizer: sgd/optimizer: adam/' "$tmp/changed.yaml"
    for command in "check $tmp/changed.yaml step_ms>0.001" "table $tmp/changed.yaml" "figures $tmp/changed.yaml" \
        "status $tmp/changed.yaml" "runs $tmp/changed.yaml"; do
        # shellcheck disable=SC2086 # words of a command
        expect 0 "$note" "$scalebench" $command --out "$tmp/changed" || return 1
    done
    for command in "check $tmp/changed.yaml step_ms>0.001" "compare $reference $tmp/changed.yaml" \
        "check $reference --exact $tmp/changed.yaml"; do
        # shellcheck disable=SC2086 # words of a command
        expect 3 "$note" "$scalebench" $command --strict --out "$tmp/changed" || return 1
    done
    sed -i 's/optimizer: adam/optimizer: sgd/; s/ranks: .*/ranks: [1, 2, 3]/' "$tmp/changed.yaml"
    expect 3 "has only 2 of 3 points of $tmp/changed.yaml: its results are of the earlier spec" \
        "$scalebench" check "$tmp/changed.yaml" "step_ms > 0.001" --strict --out "$tmp/changed" || return 1
    expect 0 "holds" "$scalebench" check fake "step_ms > 0.001" --out "$tmp/changed" && ! grep "has no point of" "$tmp/expect.log"
}
check "a run of a spec that has changed is noted" a_changed_spec_is_noted

sorted_rows_keep_their_options() {
    local run
    "$fake" run "$tmp/fake.yaml" --out "$tmp/sorted" --set "matrix.train.lr=[0.25,0.5] ranks=1 measure.steps_csv=true" || return 1
    run=$tmp/sorted/fake/latest
    expect 0 "4 hold" "$scalebench" check "$run" "train.lr = 0.25 where lr = 0.25" "train.lr = 0.5 where lr = 0.5" \
        "lr = 0.25 where train.lr = 0.25" "lr = 0.5 where train.lr = 0.5" || return 1
    { head -n 1 "$run/summary.csv" && tail -n +2 "$run/summary.csv" | tac; } >"$tmp/summary.csv"
    ! cmp -s "$tmp/summary.csv" "$run/summary.csv" && cp "$tmp/summary.csv" "$run/" || return 1
    expect 0 "2 hold" "$scalebench" check "$run" "train.lr = 0.25 where lr = 0.25" "lr = 0.5 where train.lr = 0.5"
}
check "rows that somebody sorted keep their options" sorted_rows_keep_their_options

finish
