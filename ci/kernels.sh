#!/usr/bin/env bash
# Times every op and layer of the networks, compares them with the reference plan, and draws them under
# the roof of one core: OUT/kernels/kernels.csv and roofline.{svg,png}. Arguments are those of
# kernel_sweep; BUILD is the build folder, OUT that of all results. Exit status 1: a result is wrong.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
folder=${OUT:-results}/kernels
csv=$folder/kernels.csv
mkdir -p "$folder"

status=0
"$build/kernel_sweep" "$@" >"$csv.part" || status=$?
[ "$status" -le 1 ] || exit "$status"
mv "$csv.part" "$csv"

# The words that gnuplot needs and cannot find out by itself.
column() { # name
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$csv"
}
plan=$(column plan | head -n 1)
models=$(column model | uniq | sort -u | tr '\n' ' ')
peak=$(column peak_gflop_per_s | head -n 1)
memory=$(column memory_gbyte_per_s | head -n 1)
rates=$(paste -d, <(column gflop_done_per_s) <(column flop_done) <(column part) |
    awk -F, '$2 > 0 && $3 == "op" { print $1 }' | sort -g)
least=$(awk -v peak="$peak" 'NR == 1 { print ($1 < peak / 10 ? $1 : peak / 10) / 2 }' <<<"$rates")
most=$(awk -v peak="$peak" 'END { print 2 * ($1 > peak ? $1 : peak) }' <<<"$rates")
words="$(column isa | head -n 1) kernels, plan $plan, batch $(column batch | head -n 1)"

gnuplot -e "plots='plots'; csv='$csv'; out='$folder/roofline'; plan='$plan'; models='$models'; peak=$peak;
    memory=$memory; least=$least; most=$most; caption1='$words, $(column blas | head -n 1), one core.';
    caption2='Median of $(column repeats | head -n 1) calls. Ops without operations are left out.';
    caption3='FLOPs done, not as written. Above the slope: operands in caches.'" \
    plots/roofline.gp
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    $(col["part"]) == "net" {
        printf "%-14s %-9s %-8s %8.2f ms %7.1f GFLOP/s %4.0f %% of peak", $(col["model"]),
            $(col["plan"]), $(col["pass"]), $(col["time_ms"]), $(col["gflop_per_s"]), $(col["peak_pct"])
        if ($(col["other_plan"]) != "")
            printf "  %.2f [%.2f, %.2f] x as fast as %s", $(col["ratio"]), $(col["ratio_lo"]),
                $(col["ratio_hi"]), $(col["other_plan"])
        if ($(col["pass"]) == "train")
            printf "  whole step, FLOPs done: %.1f [%.1f, %.1f] %% of the matrix product",
                $(col["done_pct"]), $(col["done_pct_lo"]), $(col["done_pct_hi"])
        print ""
    }
    $(col["verdict"]) != "ok" {
        bad++
        print "WRONG: " $(col["model"]), $(col["plan"]), $(col["part"]), $(col["layers"]),
            $(col["pass"]) ": residual", $(col["residual"]) ", bound", $(col["bound"])
    }
    END { print NR - 1 " rows, " bad + 0 " beyond their bound" }' "$csv"
echo "$folder: kernels.csv roofline.svg roofline.png"
exit "$status"
