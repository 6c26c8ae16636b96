# shellcheck shell=bash
# Reads numbers of results/reference/strong_scaling, which change when it is measured again.

cell() { # column, ranks, strategy
    awk -F, -v name="$1" -v ranks="$2" -v strategy="$3" '
        { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["ranks"] == ranks && $column["strategy"] == strategy { print $column[name]; exit }' \
        results/reference/strong_scaling/summary.csv
}

# Prints "20.80 [20.40, 21.06]" with four digits, as tables do.
interval() { # digits, column of the median, of its bounds without _lo and _hi, ranks, strategy
    awk -v digits="$1" -v mid="$(cell "$2" "$4" "$5")" -v lo="$(cell "$3_lo" "$4" "$5")" \
        -v hi="$(cell "$3_hi" "$4" "$5")" 'BEGIN {
            d = digits - length(int(mid))
            printf "%.*f [%.*f, %.*f]\n", d, mid, d, lo, d, hi }'
}
