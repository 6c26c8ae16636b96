#!/usr/bin/env bash
# Draws FOLDER/comm.csv, the table of a sweep over strategies: FOLDER/{latency,busbw}.{svg,png,pdf}.
set -eu -o pipefail
cd "$(dirname "$0")/.."
folder=$1
csv=$folder/comm.csv

# Curves as plots/comm.gp names them, in panels of at most six of a kind: groupK_title, groupK_names.
# The name comes before what is quoted and holds commas, the verdict is the last but one.
groups=$(awk -F, -v most=6 '
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    $(col["part"]) != "flat" || $(NF - 1) == "cannot run" { next }
    { name = $(col["name"]) }
    name in seen || name == "none" { next } # the latter moves nothing
    { seen[name] }
    name ~ /^MPI_/ { if ($(col["algorithm"]) != "auto") add(1); next }
    name ~ /\+/ { add(4); next }
    { add($(NF - 1) == "not a sum" ? 3 : 2) }
    function add(kind) { names[kind, ++n[kind]] = name }
    END {
        split("algorithms of the library,strategies that sum,strategies that promise no sum,compressed sums",
            title, ",")
        for (kind = 1; kind <= 4; kind++) {
            panels = int((n[kind] + most - 1) / most)
            for (p = 0; p < panels; p++) {
                text = ""
                for (i = int(p * n[kind] / panels); i < int((p + 1) * n[kind] / panels); i++)
                    text = text (text == "" ? "" : " ") names[kind, i + 1]
                printf "group%d_title=\"%s\"; group%d_names=\"%s\"; ", ++k, title[kind], k, text
            }
        }
        print "groups=" k + 0
    }' "$csv")

# The first value of a column, and coefficients.
column() { # name
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        $1 == "flat" { print $c; exit }' "$csv"
}
coefficient() { # name
    awk -F, -v name="$1" '$1 == name { printf "%.3g", $2 }' "$folder/link.csv"
}
[ -n "$(column ranks)" ] || {
    rm -f "$folder"/{latency,busbw}.{svg,png,pdf}
    exit 0
}
mpi=$(awk -F, '$1 == "flat" { print $NF; exit }' "$csv")
nodes=$(column nodes)
[ "$nodes" = 1 ] && nodes="1 node" || nodes="$nodes nodes"
words="$(column ranks) ranks on $nodes, waiting: $(column wait), $mpi; this machine:"
words="$words $(coefficient alpha_us) us a message, $(coefficient beta_ns_per_byte) ns a byte sent,"
words="$words $(coefficient gamma_ns_per_byte) ns a byte added."

draw() { # figure, title of its axis, what else the caption says
    gnuplot -e "plots='plots'; csv='$csv'; out='$folder/$1'; figure='$1'; y_title='$2'; $groups;
        caption1='$words';
        caption2='One tensor. Median of $(column turns) turns, in each of which every operation runs; bars: 95 % interval, of few turns least to greatest.';
        caption3='$3'" \
        plots/comm.gp
}
draw latency 'time of a step' 'Slowest rank, without the optimizer.'
draw busbw 'GB/s' 'Bytes over time x 2 (p - 1) / p, as nccl-tests defines busbw.'
