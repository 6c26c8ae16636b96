#!/usr/bin/env bash
# Tests `scalebench predict`: links fitted to committed points, and the errors of points that a fit has not seen. The printed
# numbers are in comm/README.md and in results/reference/past_predict/links.csv.
# cores: 1
set -u
. bench/tests/lib/tap.sh

predict() { # runs, options
    "$scalebench" predict "$@"
}

# Every number of the page's table is printed for the committed runs.
is_on_the_page() {
    predict >"$tmp/errors.txt" || return 1
    sed -n '/^Errors of predicted step times/,/^all /p' comm/README.md >"$tmp/page.txt"
    sed -n '/^Errors of predicted step times/,/^all /p' "$tmp/errors.txt" | sed 's/ *$//' | diff "$tmp/page.txt" -
}

# The link of emulated hosts, as fitted to the committed run.
fits_the_links_of_the_table() {
    predict past_predict --format links | diff results/reference/past_predict/links.csv -
}

# Points whose measured steps are twice as long move the fit that has them, and not the fit without their strategy: that
# moves only as the model is not quite linear. Bursts of lenet_21k are least so.
leaves_points_out() {
    mkdir -p "$tmp/run" && cp results/reference/past_predict/{spec.yaml,summary.csv,manifest.json} "$tmp/run" || return 1
    predict "$tmp/run" --format csv >"$tmp/before.csv" || return 1
    double_steps tree >"$tmp/doubled.csv" && mv "$tmp/doubled.csv" "$tmp/run/summary.csv" || return 1
    predict "$tmp/run" --format csv >"$tmp/after.csv" || return 1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        FNR == 1 { next }
        $at["strategy"] != "tree" || $at["model"] == "lenet_21k" { next }
        NR == FNR { seen[$at["point"]] = $at["strategy_ms"]; fitted[$at["point"]] = $at["nothing_ms"]; next }
        { n++; seen_by += far(seen[$at["point"]], $at["strategy_ms"]); moved += fitted[$at["point"]] != $at["nothing_ms"] }
        function far(a, b) { return a / b > 1.01 || b / a > 1.01 }
        END { print n, seen_by, moved; exit !(n == 6 && seen_by == 0 && moved > 0) }' "$tmp/before.csv" "$tmp/after.csv"
}

double_steps() { # strategy
    awk -F, -v OFS=, -v strategy="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print; next }
        $at["strategy"] == strategy && $at["kind"] != "simulated" {
            $at["step_ms_median"] *= 2; $at["step_ms_lo"] *= 2; $at["step_ms_hi"] *= 2 }
        { print }' "$tmp/run/summary.csv"
}

check "the page has the errors of the committed runs" is_on_the_page
check "the committed run gives its fitted link" fits_the_links_of_the_table
check "a point does not influence the fit without its strategy" leaves_points_out
check "a run without predictable points" expect 2 "predict: nothing to predict. Expected a run with measured steps of an exact strategy" "$scalebench" predict peer
check "a run that is not there" expect 2 "'nowhere' is not a run" "$scalebench" predict nowhere
finish
