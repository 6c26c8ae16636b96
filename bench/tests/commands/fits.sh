#!/usr/bin/env bash
# Tests fits.csv: committed runs give the committed fits, residuals follow from summary.csv, no fit mixes simulated points
# with others, and a run of two rank counts has no fits.
# cores: 1
set -u
. bench/tests/lib/tap.sh

run=results/reference/past_scale

# Copies a committed run without its fits to $tmp/copy, and makes its tables and figures again.
redraw() { # run
    rm -rf "$tmp/copy"
    cp -rL "results/reference/$1" "$tmp/copy" || return 1
    rm -f "$tmp/copy/fits.csv"
    "$scalebench" figures "$tmp/copy" --set 'figures=[]' >"$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
}

gives_the_same_fits() {
    local name
    for name in past_scale wang_yang_table2; do
        redraw "$name" && cmp "$tmp/copy/fits.csv" "results/reference/$name/fits.csv" || return 1
    done
}

has_no_fits() {
    redraw strong_scaling && [ ! -e "$tmp/copy/fits.csv" ] || return 1
    ! "$scalebench" table "$tmp/copy" | grep 'efficiency falls\|efficiency stays'
}

prints_one_line_per_curve() {
    local curves
    "$scalebench" table "$run" >"$tmp/table" || return 1
    curves=$(sed -n 's/^\("[^"]*"\),.*/\1/p' "$run/fits.csv" | sort -u | wc -l)
    [ "$curves" -eq 27 ] && [ "$(grep -c 'efficiency \(falls\|stays\)' "$tmp/table")" -eq "$curves" ] || return 1
    grep 'gather_scatter, model keras_690k.*: efficiency falls below 75 % at .* ranks; .* allows a speed-up of at most' "$tmp/table"
}

explains_laws() {
    expect 0 "p / (1 + sigma (p - 1))" "$scalebench" explain amdahl &&
        expect 0 "does not grow with the work" "$scalebench" explain gustafson &&
        expect 0 "kappa p (p - 1)" "$scalebench" explain usl &&
        expect 0 "at least 75 % at all points" "$scalebench" explain knee_ranks
}

# Computes residuals, knees and missed points again from summary.csv.
follows_from_the_summary() {
    python3 - "$run" <<'PYTHON'
import csv, math, sys

points = list(csv.DictReader(open(sys.argv[1] + "/summary.csv")))
fits = list(csv.DictReader(open(sys.argv[1] + "/fits.csv")))
for fit in fits:
    case, strategy, model = fit["series"].split(", ")[:3]
    curve = sorted(((int(p["ranks"]), p) for p in points if p["case"] == case and p["strategy"] == strategy
                    and p["model"] == model.split()[1]), key=lambda point: point[0])
    assert case == "simulated" and all(p["kind"] == fit["kind"] == "simulated" for _, p in curve)
    assert len(curve) + 1 == int(fit["rank_counts"]) >= 4, fit
    sigma, kappa = float(fit["sigma"]), float(fit["kappa"] or 0)
    squares, missed, knee, before = 0, 0, None, (1, 1)
    for ranks, p in curve:
        law = (ranks - sigma * (ranks - 1) if fit["law"] == "gustafson"
               else ranks / (1 + sigma * (ranks - 1) + kappa * ranks * (ranks - 1)))
        squares += math.log(float(p["speedup"]) / law) ** 2
        missed += not float(p["speedup_lo"]) <= law <= float(p["speedup_hi"])
        after = (ranks, ranks / float(p["speedup"]))
        if knee is None and after[1] > 4 / 3:
            knee = before[0] + (ranks - before[0]) * (4 / 3 - before[1]) / (after[1] - before[1])
        before = after
    residual = 100 * math.sqrt(squares / len(curve))
    assert abs(residual - float(fit["residual_pct"])) < 1e-6 * residual, (fit, residual)
    assert missed == int(fit["missed"]), (fit, missed)
    assert abs(knee - float(fit["knee_ranks"])) < 1e-6 * knee, (fit, knee)
assert len(fits) == 54 and {fit["law"] for fit in fits} == {"gustafson", "usl"}
PYTHON
}

# The figure has the law of fits.csv at each point: computed again here, for two laws and for speed-up and efficiency.
draws_the_fits() {
    local law y
    redraw past_scale || return 1
    for law in usl gustafson; do
        for y in speedup efficiency; do
            expect 0 "" "$scalebench" figures "$tmp/copy" \
                --set "figures=[{kind: fits, y: $y, law: $law, where: case = simulated and model = vgg11_bn, size: page}]" || return 1
            grep -q 'fitted law' "$tmp/copy/fits.svg" || return 1
            python3 - "$tmp/copy" "$law" "$y" <<'PYTHON' || return 1
import csv, sys

fits = {fit["series"].split(", ")[1]: fit for fit in csv.DictReader(open(sys.argv[1] + "/fits.csv"))
        if fit["law"] == sys.argv[2] and "vgg11_bn" in fit["series"]}
drawn = 0
for row in csv.DictReader(open(sys.argv[1] + "/series_fits.csv")):
    fit = fits.get(row["name"].split(", ")[1])
    if fit is None or not row["value"] or row["ranks"] == "1":
        continue
    p, sigma, kappa = int(row["ranks"]), float(fit["sigma"]), float(fit["kappa"] or 0)
    law = (p - sigma * (p - 1) if sys.argv[2] == "gustafson" else p / (1 + sigma * (p - 1) + kappa * p * (p - 1)))
    law *= 100 / p if sys.argv[3] == "efficiency" else 1
    assert abs(float(row["model"]) - law) < 1e-6 * law, (row, law)
    drawn += 1
assert drawn > 40, drawn
PYTHON
        done
    done
    expect 2 "has no effect: laws describe speedup and efficiency" "$scalebench" figures "$tmp/copy" --set 'figures=[{kind: line, y: step_ms, law: usl}]'
}

check "a figure has the fitted laws beside the points" draws_the_fits
check "committed runs give the committed fits" gives_the_same_fits
check "a run of two rank counts has no fits" has_no_fits
check "the table has one line per curve" prints_one_line_per_curve
check "laws are explained" explains_laws
if command -v python3 >/dev/null; then
    check "residuals and knees follow from the summary" follows_from_the_summary
else
    lacks "residuals and knees follow from the summary" python3
fi
finish
