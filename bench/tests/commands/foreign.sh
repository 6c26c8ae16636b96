#!/usr/bin/env bash
# Tests the foreign MPI program of configs/examples: time, speed-up and efficiency with intervals and figures, its own
# options, values read from its output, and the messages when it fails.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

export SCALEBENCH_HOME=$PWD
out=$tmp/results spec=$tmp/pi.yaml
cp configs/examples/pi.yaml "$tmp" || exit 1
${MPICC:-mpicc} -O2 -o "$tmp/pi" configs/examples/pi.c || exit 1

run() { # arguments
    "$scalebench" run "$spec" --out "$out" --set "place.oversubscribe=allow measure.retries=0 $*"
}

# The field of a column in the n-th row of a CSV file of the latest run.
field() { # file, row, column
    field_of pi "$@"
}

field_of() { # campaign, file, row, column
    awk -F, -v row="$3" -v name="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row + 1 { print $column }' "$out/$1/latest/$2.csv"
}

is_between() { # low, number, high
    awk -v low="$1" -v x="$2" -v high="$3" 'BEGIN { exit !(low <= x && x <= high && x != "") }'
}

small="matrix.workload.options.intervals=[2000000,4000000] measure.time.launches=6..6"

measures() {
    local row
    expect 0 "time ms [" run "$small" || return 1
    [ "$(wc -l <"$out/pi/latest/summary.csv")" -eq 5 ] || return 1
    for row in 1 2 3 4; do
        [ "$(field summary "$row" status)" = ok ] && [ "$(field summary "$row" launches)" = 6 ] || return 1
        [ -z "$(field summary "$row" model)$(field summary "$row" images_per_s)" ] || return 1
        is_between "$(field summary "$row" step_ms_lo)" "$(field summary "$row" step_ms_median)" \
            "$(field summary "$row" step_ms_hi)" || return 1
    done
    for row in 2 4; do
        is_between "$(field summary "$row" speedup_lo)" "$(field summary "$row" speedup)" \
            "$(field summary "$row" speedup_hi)" || return 1
    done
}

# The time that the program printed is used, not the time of its launch.
judges_by_its_own_time() {
    local log ms
    log=$out/pi/latest/$(field raw 1 launch)/log.txt
    ms=$(sed -n 's/.* in \(.*\) ms$/\1/p' "$log")
    is_between 0.999 "$(awk -v a="$(field raw 1 step_ms)" -v b="$ms" 'BEGIN { print a / b }')" 1.001
}

draws() {
    local figure
    for figure in time speedup efficiency; do
        [ -s "$out/pi/latest/$figure.svg" ] || return 1
        [ "$(grep -c 'ranks' "$out/pi/latest/series_$figure.csv")" -ge 1 ] || return 1
    done
    # Six launches of two points, whose speed-up is the median of theirs.
    [ "$(grep -c ',ranks=2' "$out/pi/latest/dots_speedup.csv")" -eq 12 ] &&
        [ "$(grep -c ',ranks=2' "$out/pi/latest/dots_efficiency.csv")" -eq 12 ]
}

tells_metrics() {
    [ "$(wc -l <"$out/pi/latest/metrics.csv")" -eq 49 ] &&
        [ "$(grep -c ',pi,3.14159265' "$out/pi/latest/metrics.csv")" -eq 24 ]
}

draws_metrics() {
    "$scalebench" figures "$out/pi/latest" \
        --set 'figures=[{kind: line, name: value, y: value, file: metrics, where: metric = pi, x: workload.options.intervals}]' &&
        grep -q 3.14159 "$out/pi/latest/series_value.csv"
}

# Numbers of different meaning have no mean: each metric has a curve, and one bar a point is refused.
tells_metrics_apart() {
    local figure='name: each, y: value, file: metrics'
    "$scalebench" figures "$out/pi/latest" \
        --set "figures=[{kind: line, $figure, series: [ranks], x: workload.options.intervals}]" &&
        [ "$(grep -c 'metric pi".*,3.14159' "$out/pi/latest/series_each.csv")" -eq 4 ] &&
        [ "$(grep -c 'metric time_ms"' "$out/pi/latest/series_each.csv")" -eq 4 ] &&
        expect 2 "y = value would average rows of metrics.csv for pi and time_ms" "$scalebench" figures "$out/pi/latest" \
            --set "figures=[{kind: bars, $figure}]"
}

checks_metrics() {
    expect 0 "1 hold" "$scalebench" check "$out/pi/latest" "pi > 3.14 and time_ms > 0" || return 1
    expect 1 "violated   " "$scalebench" check "$out/pi/latest" "pi < 3" || return 1
    expect 2 "neither a column of summary.csv nor a metric of the run nor an option" "$scalebench" check "$out/pi/latest" "pj < 3" || return 1
    expect 0 "1 hold" run "$small checks=[\"pi > 3.14\"]" &&
        expect 2 "'pj > 3.14': 'pj' is neither" run "$small checks=[\"pj > 3.14\"]"
}

# No launch has printed it: the point failed, and so does the condition.
checks_a_metric_that_never_came() {
    printf '%s\n' "name: never" "workload: {command: [sleep, '0.01'], metrics: ['t_ms = never ([0-9]+)']}" \
        "measure: {time: {launches: 2..2}, retries: 0}" "checks: ['t_ms < 5']" >"$tmp/never.yaml"
    expect 1 "0 hold, 0 undecided, 1 violated" "$scalebench" run "$tmp/never.yaml" --out "$out" &&
        expect 1 "violated   ranks=1: t_ms unknown (failed: " "$scalebench" check "$out/never/latest" "t_ms < 5" &&
        expect 2 "'u_ms' is neither a column" "$scalebench" check "$out/never/latest" "u_ms < 5"
}

# An axis of numbers, named by its last word; the other options of points as well.
draws_own_options() {
    "$scalebench" figures "$out/pi/latest" --set 'figures=[{kind: line, name: own, y: step_ms,
        where: "workload.options.intervals > 3e6", series: [ranks], x: workload.options.intervals}]' &&
        [ "$(grep -c ',intervals=4000000\|intervals=4000000,' "$out/pi/latest/series_own.csv")" -eq 2 ] &&
        ! grep -q 'intervals=2000000' "$out/pi/latest/series_own.csv" &&
        grep -q 'workload_options' "$out/pi/latest/summary.csv" &&
        grep -q ',intervals=4000000\(,\|$\)' "$out/pi/latest/summary.csv" &&
        expect 0 "speedup" "$scalebench" check "$out/pi/latest" "speedup > 1e-3 where workload.options.intervals = 4e6 and ranks = 2"
}

# By the work of a launch, of which a program has one.
compares_speedups() {
    expect 0 "2 same" "$scalebench" compare "$out/pi/latest" "$out/pi/latest" --quantity speedup &&
        grep -q "^ranks=2.* $(printf '%#.4g' "$(field summary 2 speedup)")" "$tmp/expect.log"
}

# Nothing runs again, whose resolved spec is read back.
goes_on() {
    local before after
    before=$(grep -c '"done"' "$out/pi/latest/journal.jsonl")
    expect 0 "speed-up" run "$small" || return 1
    after=$(grep -c '"done"' "$out/pi/latest/journal.jsonl")
    [ "$before" -eq 24 ] && [ "$after" -eq 24 ]
}

# The axis says which time.
names_its_time() {
    grep -q 'time_ms (ms)' "$out/pi/latest/time.svg"
}

takes_wall_time() {
    expect 0 "time ms" run "workload.time=wall workload.metrics=[] matrix.workload.options.intervals=[1000]" \
        "measure.time.launches=2..2" || return 1
    is_between 0.999 "$(awk -v a="$(field raw 1 step_ms)" -v b="$(field raw 1 wall_s)" \
        'BEGIN { print a / b / 1000 }')" 1.001
}

stands_beside_training() {
    cat >"$tmp/both.yaml" <<END
name: both
model: softmax_784
data: {set: digits}
train: {global_batch: 100}
cases:
  - {label: pi, workload: {command: [./pi, 1000, "{ranks}", "{seed}", "{record}"]}}
  - {label: training}
measure: {time: {warmup_steps: 1, steps: 200, launches: 2..2}}
figures: [time]
END
    expect 0 "training" "$scalebench" run "$tmp/both.yaml" --out "$out" || return 1
    [ "$(grep -c ',ok,' "$out/both/latest/summary.csv")" -eq 2 ] &&
        grep -qF '| case | ranks | workload | img/rank | launches | time ms [' "$out/both/latest/summary.md" &&
        grep -q 'time of a step' "$out/both/latest/time.svg" && grep -q 'log scale' "$out/both/latest/time.svg"
}

# The script of configs/examples has all that a record must hold, of steps of a hundredth of a second.
records_steps() {
    cp configs/examples/steps.sh "$tmp" || return 1
    cat >"$tmp/steps.yaml" <<END
name: steps
scaling: weak
workload: {command: [steps.sh, "{record}", "{ranks}"]}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure: {time: {launches: 6..6}, retries: 0}
END
    expect 0 "11 of 12 met, 1 not applicable." "$scalebench" run "$tmp/steps.yaml" --out "$out" || return 1
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR == 3 {
            p95 = $column["step_p95_ms"]
            exit !($column["status"] == "ok" && $column["steps"] == 12 && $column["images_per_s"] == "" &&
                   $column["step_ms_median"] >= 10 && p95 >= 10 && $column["step_max_ms"] >= p95 &&
                   $column["speedup"] > 0 && $column["speedup"] < 1e3 && $column["trend_pct"] != "")
        }' "$out/steps/latest/summary.csv"
}

# A field too few: which, and in which file.
lacks_field() {
    sed -i 's/"window_cpu_ns": 0, //' "$tmp/steps.sh"
    expect 1 "records: rank.0.jsonl: end: 'window_cpu_ns' is missing" \
        "$scalebench" run "$tmp/steps.yaml" --out "$out" --fresh
}

# Other programs run; the points of a missing program give the reason.
leaves_out() { # program, reason
    cat >"$tmp/lost.yaml" <<END
name: lost
cases:
  - {label: there, workload: {command: [sh, -c, "echo hello"]}}
  - {label: missing, workload: {command: [$1]}}
measure: {time: {launches: 1..1}, retries: 0}
figures: []
END
    expect 0 "missing: skipped: workload.command: '$1' cannot be run: $2" \
        "$scalebench" run "$tmp/lost.yaml" --out "$out" --fresh || return 1
    [ "$(grep -c ',ok,' "$out/lost/latest/summary.csv")" -eq 1 ] &&
        expect 3 "--strict: 1 of 2 points cannot run here" \
            "$scalebench" run "$tmp/lost.yaml" --out "$out" --strict
}

lacks_all() {
    printf 'name: none\nworkload: {command: [./nobody]}\nmeasure: {time: {launches: 1..1}}\n' >"$tmp/none.yaml"
    expect 3 "no point can run here. First refused point: ranks=1: workload.command: './nobody' cannot be run" \
        "$scalebench" run "$tmp/none.yaml" --out "$out" &&
        expect 0 "no point can run here: \`run\` would end with exit status 3" \
            "$scalebench" plan "$tmp/none.yaml" --out "$out"
}

# metrics.csv of a run whose spec no longer has metrics.
removes_old_tables() {
    touch "$out/lost/latest/metrics.csv"
    "$scalebench" run "$tmp/lost.yaml" --out "$out" >"$tmp/expect.log" 2>&1 &&
        [ ! -e "$out/lost/latest/metrics.csv" ]
}

# Runs a short program with a short spec, and checks the exit status and a text of the table.
fails_with() { # status, text, lines of the program
    printf '#!/bin/sh\n%s\n' "$3" >"$tmp/own" && chmod +x "$tmp/own"
    printf 'name: own\nworkload: {command: [./own], metrics: ["time_s = took (.*) s"], time: time_s}\n%s\n' \
        'measure: {time: {launches: 1..1}, limit: '"${limit:-60s}"', retries: 0}' >"$tmp/own.yaml"
    expect "$1" "$2" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh
}

# The value of a pattern in the output "took 5 ms, 0.25 s (4 ranks)", by which points are compared.
reads() { # value, pattern
    printf '#!/bin/sh\necho "took 5 ms, 0.25 s (4 ranks)"\n' >"$tmp/own" && chmod +x "$tmp/own"
    cat >"$tmp/own.yaml" <<END
name: own
workload: {command: [./own], metrics: ['time_ms = $2'], time: time_ms}
measure: {time: {launches: 1..1}, retries: 0}
figures: []
END
    expect 0 "time ms" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh &&
        [ "$(field_of own metrics 1 value)" = "$1" ]
}

# Without limits, each pattern takes minutes or gigabytes; the campaign reports the fault.
ends_with_an_endless_pattern() { # pattern, bytes of the line, text
    printf '#!/bin/sh\nhead -c %d /dev/zero | tr "\\0" a; echo b\n' "$2" >"$tmp/own" && chmod +x "$tmp/own"
    cat >"$tmp/own.yaml" <<END
name: own
workload: {command: [./own], metrics: ['a_s = $1']}
measure: {time: {launches: 1..1}, retries: 0}
figures: []
END
    expect 1 "line 1: workload.metrics: $3" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh &&
        grep -qF "'a_s = $1'" "$tmp/expect.log"
}

refuses() { # text, workload
    printf 'name: own\nworkload: %s\nmeasure: {time: {launches: 1..1}}\n' "$2" >"$tmp/own.yaml"
    expect "${3:-2}" "$1" "$scalebench" plan "$tmp/own.yaml" --out "$out"
}

reads_last_line() {
    fails_with 0 "time ms" 'echo took 5 s; echo took 0.25 s' && grep -q ',250,' "$out/own/latest/raw.csv"
}

# The last match gives the value, even if it is not a number. An earlier match does not replace it.
takes_no_earlier_number() {
    fails_with 1 "log.txt: line 2: workload.metrics: expected a number, found 'nan' with the pattern 'time_s = took (.*) s'" \
        'echo took 5 s; echo took nan s'
}

# A group that ends at the point would cut 1.89 to 1.
takes_whole_numbers() {
    printf '#!/bin/sh\necho took 1.89 s\n' >"$tmp/own" && chmod +x "$tmp/own"
    printf 'name: own\nworkload: {command: [./own], metrics: ["cut_s = took ([0-9]+)"], time: cut_s}\n%s\n' \
        'measure: {time: {launches: 1..1}, retries: 0}' >"$tmp/own.yaml"
    expect 1 "expected a number, found '1.89' with the pattern 'cut_s = took ([0-9]+)'" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh
}

# As the terminal shows it: every file but the log is text.
escapes_what_is_no_text() {
    local file
    fails_with 1 "found '\\xff\\xfe'" 'printf "took \377\376 s\n"' || return 1
    grep -qF "found '\\xff\\xfe'" "$out/own/latest/summary.csv" || return 1
    for file in "$out"/own/latest/*.{csv,md,json,yaml} "$out"/own/latest/journal*; do
        iconv -f utf-8 -t utf-8 "$file" >/dev/null || return 1
    done
    fails_with 1 "oh \\xff" 'printf "oh \377\n"; exit 7' && grep -qF 'oh \xff' "$out/own/latest/summary.csv"
}

# 1 and 70 zeros nanoseconds: as C writes it, without an exponent.
reads_long_numbers() {
    printf '#!/bin/sh\nprintf "took 1%%070d ns\\n" 0\n' >"$tmp/own" && chmod +x "$tmp/own"
    printf 'name: own\nworkload: {command: [./own], metrics: ["time_ns = took (.*) ns"], time: time_ns}\n%s\n' \
        'measure: {time: {launches: 1..1}, retries: 0}' >"$tmp/own.yaml"
    expect 0 "time ms" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh &&
        grep -q ',1e+70$\|,1e+70,' "$out/own/latest/metrics.csv"
}

# A program with many options gets one argument per option.
measures_options() { # workload, how many
    printf '#!/bin/sh\necho found $# of them\n' >"$tmp/own" && chmod +x "$tmp/own"
    printf 'name: own\nworkload: {%s, metrics: ["found = found (.*) of them"]}\n%s\n' "$1" \
        'measure: {time: {launches: 1..1}}
figures: []' >"$tmp/own.yaml"
    expect 0 "" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh && [ "$(field_of own metrics 1 value)" = "$2" ]
}

# The spec that the run keeps names an option that is no axis once, and reads again.
reads_its_spec() {
    measures_options 'command: [./own, "{o1}"], options: {o1: 1}' 1 && expect 0 "time ms" "$scalebench" table own --out "$out"
}

# A program that always tells the same time: of one problem two ranks are no faster, of two they do twice as
# much.
scales() { # kind, speed-up, efficiency
    printf '#!/bin/sh\necho took 1 s\n' >"$tmp/own"
    printf 'name: own\nscaling: %s\nworkload: {command: [own], metrics: ["time_s = took (.*) s"], time: time_s}\n%s\n' \
        "$1" 'matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure: {time: {launches: 2..2}}' >"$tmp/own.yaml"
    expect 0 "$1 scaling" "$scalebench" run "$tmp/own.yaml" --out "$out" --fresh || return 1
    awk -F, -v wanted="$2 $3" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR == 3 { is = $column["speedup"] " " $column["efficiency"]; exit is != wanted }' \
        "$out/own/latest/summary.csv"
}

check "a program is measured with its own option as an axis" measures
check "points are compared by the time that the program prints" judges_by_its_own_time
check "speed-ups of a program are compared" compares_speedups
check "figures of time, speed-up and efficiency" draws
check "the time axis names its metric" names_its_time
check "metrics by pattern" tells_metrics
check "a figure of a metric" draws_metrics
check "a curve a metric" tells_metrics_apart
check "conditions on metrics" checks_metrics
check "a condition on a metric that no launch printed" checks_a_metric_that_never_came
check "a figure over an option of its own" draws_own_options
check "the same command runs nothing again" goes_on
check "wall time" takes_wall_time
check "beside a point that trains" stands_beside_training
check "a program that writes records has step times" records_steps
check "a field that a record lacks" lacks_field
check "the last line that matches counts" reads_last_line
check "a last line that holds no number is none" takes_no_earlier_number
check "a pattern that cuts a number" takes_whole_numbers
check "output that is no UTF-8" escapes_what_is_no_text
check "numbers of many digits" reads_long_numbers
check "the spec of a run with a fixed option reads again" reads_its_spec
check "strong scaling is a ratio of times" scales strong 1 0.5
check "weak scaling counts the work of each rank" scales weak 2 1
check "a program that fails" fails_with 1 "exit status 7" 'echo oh; exit 7'
limit=2s check "a program that hangs" fails_with 1 "not done within measure.limit (2 s)" 'sleep 60'
check "a program that prints no metric" fails_with 1 \
    "workload.metrics: no line matches 'time_s = took (.*) s'; the last lines are 'two', 'three', 'done'" \
    'echo one; echo two; echo three; echo; echo done'
check "the reason of a failed launch is printed once" [ "$(grep -c "no line matches" "$tmp/expect.log")" = 1 ]
check "the folder of a launch that failed is named" grep -qE "will not be retried \(.*/own/[^/]+/launches/[^/]+/time-[0-9]+\)" \
    "$tmp/expect.log"
check "a program that is not there leaves its own points out" leaves_out ./nobody "No such file"
check "so does one that cannot be executed" leaves_out ./pi.yaml "Permission denied"
check "where no other is left nothing runs" lacks_all
check "a table of an earlier analysis goes" removes_old_tables
check "no command" refuses "own.yaml:2:11: workload.command is missing" command
check "unknown braces" refuses \
    "own.yaml:2:21: workload.command: '{size}': unknown option; known: {ranks} {seed} {record}; workload.options of this point: {n}" \
    '{command: [./pi, "{size}", "{n}"], options: {n: 5}}'
check "braces without options" refuses "'{size}': unknown option; known: {ranks} {seed} {record}; this point has no workload.options" \
    '{command: [./pi, "{size}"]}'
check "an option that no command takes" refuses \
    "own.yaml:2:55: workload.options.sise has no effect, since no workload.command contains {sise}" \
    '{command: [./pi, "{size}"], options: {sise: 5, size: 6}}'
check "a name that is none" refuses "own.yaml:2:44: workload.options: 'a-b' cannot name an option" \
    '{command: [./pi, "x"], options: {a-b: 5}}'
check "a name that is taken" refuses "{ranks} has a fixed meaning" '{command: [./pi], options: {ranks: 5}}'
check "an option named like a column of figures" refuses \
    "own.yaml:2:49: workload.options: 'n' already names column n of series_NAME.csv" '{command: [./pi, "{n}"], options: {n: 5}}'
check "an option named like a column of a run" refuses "'step_ms' already names column step_ms_median of summary.csv" \
    '{command: [./pi, "{step_ms}"], options: {step_ms: 5}}'
check "a metric named like a column" refuses "workload.metrics: 'speedup' already names column speedup of summary.csv" \
    '{command: [./pi], metrics: ["speedup = x (.*)"]}'
many=$(printf ', o%d: 1' {2..32}) taken=$(printf ', "{o%d}"' {2..32})
check "32 options" measures_options "command: [./own, \"{o1}\"$taken], options: {o1: 1$many}" 32
check "too many options" refuses "'o33' exceeds the limit of 32 options in a spec" "{command: [./pi], options: {o1: 1$many, o33: 1}}"
check "no map of options" refuses "workload.options: expected a map of the program's own options" \
    '{command: [./pi], options: 5}'
check "a pattern with \d" reads 5 'took (\d+) ms'
check "a pattern with a named group" reads 0.25 '(ms|s), (?P<s>\d+\.\d+) s'
check "a pattern with several named groups" reads 4 '(?P<s>\S+) s \((?P<value>\d+) ranks'
check "a pattern with a non-greedy repeat" reads 0.25 'took.*?, ([\d.]+)'
check "a pattern with word boundaries" reads 4 '\b(\d)\b ranks'
check "a pattern with alternatives outside of a group" reads 5 '(?:took|needed) (\d+)'
check "a pattern without a group" reads 0.25 '(?<=, )\S+'
check "a pattern of POSIX" reads 5 'took ([0-9.]+)[[:space:]]+ms'
check "a pattern with several groups" refuses \
    "own.yaml:2:39: workload.metrics: expected one group around the number, such as ([0-9.]+), or a group named value; found 2 groups" \
    '{command: [./pi], metrics: ["a = (b)(c)"]}'
check "a malformed pattern is refused at its place" refuses \
    "own.yaml:2:48: workload.metrics: missing closing parenthesis at character 5 of the pattern: 'm = 4 (µ'" \
    '{command: [./pi], metrics: ["m = 4 (µ"]}'
check "a malformed pattern with an escape is refused at its text" refuses \
    "own.yaml:2:39: workload.metrics: missing closing parenthesis at character 4 of the pattern: 'm = (\\d'" \
    '{command: [./pi], metrics: ["m = (\\d"]}'
check "two metrics of one name" refuses "own.yaml:2:48: workload.metrics: two patterns have the name 'a'" \
    '{command: [./pi], metrics: ["a = b", "a = c"]}'
check "a pattern that takes steps without end" ends_with_an_endless_pattern '(a+)+$' 60 "matching takes too much time"
check "a pattern that takes the square of a line" ends_with_an_endless_pattern '[a]+$' 300000 "matching takes too much time"
check "a pattern that takes memory without end" ends_with_an_endless_pattern '(.|x)*' 3000000 \
    "matching takes too much memory"
check "a pattern that calls itself without end" ends_with_an_endless_pattern '(?R)' 1 "nested recursion"
check "a pattern that is too large" refuses "workload.metrics: regular expression is too large" \
    '{command: [./pi], metrics: ["b = ((a{1000}){1000}){1000}"]}'
check "a time that no metric has" refuses "'a_ms' is unknown; known: wall" '{command: [./pi], time: a_ms}'
check "an unknown key" refuses "'comand' is unknown" '{comand: [./pi]}'
finish
