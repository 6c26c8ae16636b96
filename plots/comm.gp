# Draws the results of comm_sweep over the size of the gradient. `scalebench figures` first assigns:
#   plots, csv, link, out   this folder; the sweep's tables; the path of the figures without ending
#   figure                  latency: time of MPI_Allreduce and the speed of the others relative to it, in panels
#                           of a few; busbw: bandwidth of operations that send the bytes of its formula

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN
load plots.'/palette.gp'

is_latency = figure eq 'latency'
own = 'MPI_Allreduce'

# Tests whether the current row is drawn. `none` moves nothing, and its ratio would fill the range. busbw assumes
# 2 (p - 1) / p of the bytes; older tables have it for all operations.
is_flat(c) = strcol('part') eq 'flat' && strcol('verdict') ne 'cannot run' && strcol('name') ne 'none'
plain(c) = strcol('compressor') eq '' || strcol('compressor') eq 'none'
counted(c) = plain(0) && strcol('verdict') ne 'not a sum' && column('busbw_gbyte_per_s') > 0 \
    && abs(column('bytes_wire') - 2 * (column('ranks') - 1) / column('ranks') * column('bytes')) \
        <= 8 * column('messages_wire') + 1e-5 * column('bytes')
drawn(c) = is_flat(0) && (is_latency || counted(0))
x_of(name) = drawn(0) && strcol('name') eq name ? column('bytes') : NaN
is_own(name) = name eq own || name eq 'MPI_Iallreduce'

# Time of a step in us; relative speed; GB/s, with bounds from those of the time.
bus(us) = column('busbw_gbyte_per_s') * column('latency_us') / us
y(what) = what eq 'time' ? column('latency_us') : what eq 'ratio' ? column('ratio') : column('busbw_gbyte_per_s')
y_lo(what) = what eq 'time' ? column('latency_us_lo') : what eq 'ratio' ? column('ratio_lo') : bus(column('latency_us_hi'))
y_hi(what) = what eq 'time' ? column('latency_us_hi') : what eq 'ratio' ? column('ratio_hi') : bus(column('latency_us_lo'))

# Lists of operations in the order of the table: 1 algorithms of the library, 2 strategies that sum, 3 strategies
# without an exact sum, 4 compressed sums.
titles = '"algorithms of the library" "strategies that sum" "strategies that promise no sum" "compressed sums"'
array names_of[4]
do for [k = 1:4] { names_of[k] = '' }
kind_of(name) = name[1:4] eq 'MPI_' ? 1 : strstrt(name, '+') > 0 ? 4 : strcol('verdict') eq 'not a sum' ? 3 : 2
has(list, name) = strstrt(list.' ', ' '.name.' ') > 0
add(k, name) = has(names_of[k], name) || is_own(name) ? 0 : (names_of[k] = names_of[k].' '.name, 0)
# Reads the values that all rows share from the first.
ranks = 0
largest = 0
share(c) = (largest = column('bytes') > largest ? column('bytes') : largest, ranks > 0 ? 0 \
    : (ranks = column('ranks'), nodes = column('nodes'), rounds = column('turns'), \
    waiting = strcol('wait'), mpi = strcol('mpi'), 0))
stats csv using (drawn(0) ? share(0) + add(kind_of(strcol('name')), strcol('name')) : 0) nooutput

# A panel has at most six operations of a kind; the first panel is the library's own call, the reference of the others.
# The highest bandwidths at the largest gradient are coloured.
array group_title[32]
array group_names[32]
array group_what[32]
groups = 1
group_title[1] = is_latency ? 'all operations' : ''
group_names[1] = ''
group_what[1] = is_latency ? 'time' : 'busbw'
do for [k = 1:is_latency ? 4 : 0] {
    n = words(names_of[k])
    panels = int((n + 5) / 6)
    do for [p = 1:panels] {
        groups = groups + 1
        group_title[groups] = word(titles, k)
        group_names[groups] = ''
        group_what[groups] = 'ratio'
        do for [i = (p - 1) * n / panels + 1:p * n / panels] {
            group_names[groups] = group_names[groups].' '.word(names_of[k], i)
        }
    }
}
others = is_latency ? 1 : 0
if (!is_latency) {
    others = words(names_of[1].names_of[2])
    do for [i = 1:others < 5 ? others : 5] {
        highest = 0
        best = ''
        better(c) = y('busbw') > highest && !has(group_names[1], strcol('name')) && !is_own(strcol('name')) \
            ? (highest = y('busbw'), best = strcol('name'), 0) : 0
        stats csv using (drawn(0) && column('bytes') == largest ? better(0) : 0) nooutput
        group_names[1] = group_names[1].(best eq '' ? '' : ' '.best)
    }
    others = others - words(group_names[1])
}
others_name = is_latency ? 'all others' : sprintf('%d other operation%s that send as much', others, others == 1 ? '' : 's')

alpha = beta = gamma = NaN
name_is(name) = strcol('coefficient') eq name
stats link using (name_is('alpha_us') ? (alpha = column('value'), 0) \
    : name_is('beta_ns_per_byte') ? (beta = column('value'), 0) \
    : name_is('gamma_ns_per_byte') ? (gamma = column('value'), 0) : 0) nooutput

# Confidence level of an interval of this many rounds: order statistics of at least 95 %.
below(n, k) = 2 * sum [i = 0:k - 1] exp(lgamma(n + 1) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * log(2))
taken = 1
while (taken < rounds / 2 && below(rounds, taken + 1) <= 0.05) { taken = taken + 1 }
level = 100 * (1 - below(rounds, taken))

cost(x, what) = x == x ? sprintf(' %.3g%s', x, what) : ''
caption1 = sprintf('%d ranks on %d node%s, waiting: %s, %s.', ranks, nodes, nodes == 1 ? '' : 's', waiting, mpi)
caption1 = caption1.(alpha == alpha ? sprintf('%s%s%s.', cost(alpha, ' µs a message,'), \
    cost(beta, ' ns a byte sent,'), cost(gamma, ' ns a byte added')) : '')
caption2 = sprintf('One tensor. Median of %d rounds, in each of which every operation runs; bars: %.3g %% intervals.', rounds, level)
caption3 = is_latency ? 'Slowest rank, without the optimizer. Above 1 an operation is faster than MPI_Allreduce in the same rounds.' \
    : 'Bytes over time x 2 (p - 1) / p, as nccl-tests defines busbw.'
if (!is_latency) {
    caption2 = sprintf('One tensor. Median of %d rounds; bars: %.3g %% intervals.', rounds, level)
    caption1 = sprintf('%d ranks on %d node%s, waiting: %s, %s.', ranks, nodes, nodes == 1 ? '' : 's', waiting, mpi)
}
y_title(what) = what eq 'time' ? 'time of a step' : what eq 'ratio' ? 'times as fast as MPI_Allreduce' : 'bus bandwidth (GB/s)'

# Lengths are in points. The figure is a page wide (7 in) with three panels per row, or a column wide.
across = groups < 3 ? groups : 3
rows = (groups + across - 1) / across
panel_width = is_latency ? 168.0 : 252.0
width = panel_width * across
legend_row = 8.6
entries = 0
do for [g = 1:groups] {
    entries = words(group_names[g]) > entries ? words(group_names[g]) : entries
}
entries = entries + (is_latency ? 0 : 2)
legend_height = legend_row * (entries + 1) + 6
plot_height = is_latency ? 104.0 : 150.0
axis_height = 32.0
panel_height = legend_height + plot_height + axis_height
caption_height = 32.0
height = rows * panel_height + caption_height

left_of(g) = panel_width * ((g - 1) % across)
top_of(g) = height - panel_height * ((g - 1) / across)
legend_y(g, k) = top_of(g) - legend_row * (k - 0.5) - 2

set border 3 linewidth 0.6 linecolor rgb '#404040'
set grid linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
unset key
set logscale xy

# Finds the ranges of the drawn rows.
stats csv using (drawn(0) ? column('bytes') : NaN) name 'X' nooutput
array low[2]
array high[2]
do for [i = 1:2] {
    what = i == 2 ? 'ratio' : is_latency ? 'time' : 'busbw'
    stats csv using (drawn(0) ? y_lo(what) : NaN) name 'LO' nooutput
    stats csv using (drawn(0) ? y_hi(what) : NaN) name 'HI' nooutput
    low[i] = LO_min / 1.4
    high[i] = HI_max * 1.4
}
set xrange [X_min / 2 : X_max * 2]
unset xtics
set xtics nomirror out scale 0.5
units = 'B KiB MiB GiB'
set xtics ('4 B' 4)
do for [k = 1:8] {
    power = 2 + 4 * k
    set xtics add ((k % 2 ? '' : sprintf('%d %s', 2**(power % 10), word(units, power / 10 + 1))) 2.0**power)
}
ticks(what) = "unset ytics; set ytics nomirror out scale 0.5 font small; set ytics ('' 1e-9); do for [k = -10:10] { ".(what eq 'ratio' \
    ? "set ytics add ((k < 0 ? sprintf('1/%d', 2**(-k)) : sprintf('%d', 2**k)) 2.0**k) }" : what eq 'time' \
    ? "set ytics add ((k < 3 ? sprintf('%g µs', 10.0**k) : ".\
      "k < 6 ? sprintf('%g ms', 10.0**(k - 3)) : sprintf('%g s', 10.0**(k - 6))) 10.0**k) }" \
    : "set ytics add (sprintf('%g', 10.0**k) 10.0**k) }")

do for [format in formats] {
    load plots.'/terminal.gp'
    set tics font small
    set output out.'.'.format
    set multiplot
    do for [g = 1:groups] {
        what = group_what[g]
        axis = what eq 'ratio' ? 2 : 1
        set lmargin at screen (left_of(g) + 42) / width
        set rmargin at screen (left_of(g) + panel_width - 6) / width
        set tmargin at screen (top_of(g) - legend_height) / height
        set bmargin at screen (top_of(g) - legend_height - plot_height) / height
        set yrange [low[axis] : high[axis]]
        eval ticks(what)
        unset label
        unset arrow
        names = group_names[g]
        first = group_title[g] eq '' ? 0 : 1
        set label group_title[g] noenhanced font small left \
            at screen (left_of(g) + 42) / width, screen legend_y(g, 1) / height
        do for [k = 1:words(names)] {
            set arrow from screen (left_of(g) + 44) / width, screen legend_y(g, k + first) / height \
                to screen (left_of(g) + 58) / width, screen legend_y(g, k + first) / height nohead \
                linecolor rgb colour(k) linewidth 1
            set label '' at screen (left_of(g) + 51) / width, screen legend_y(g, k + first) / height \
                point linecolor rgb colour(k) pointtype shape(solid, k) \
                pointsize 0.8 * scale
            set label word(names, k) noenhanced font small left \
                at screen (left_of(g) + 62) / width, screen legend_y(g, k + first) / height
        }
        if (g == 1) {
            do for [k = 1:others > 0 ? 2 : 1] {
                at_y = legend_y(g, words(names) + first + k) / height
                set arrow from screen (left_of(g) + 44) / width, screen at_y \
                    to screen (left_of(g) + 58) / width, screen at_y nohead \
                    linecolor rgb (k == 1 ? 'black' : light) linewidth (k == 1 ? 1.2 : 0.6)
                set label (k == 1 ? own : others_name) noenhanced font small left \
                    at screen (left_of(g) + 62) / width, screen at_y
            }
            do for [k = 1:3] {
                set label value(sprintf('caption%d', k)) noenhanced font small \
                    textcolor rgb '#303030' left \
                    at screen 4 / width, screen (caption_height - 9 * (k - 0.4)) / height
            }
        }
        set label y_title(what) noenhanced rotate center font small \
            at screen (left_of(g) + 7) / width, screen (top_of(g) - legend_height - plot_height / 2) / height
        set label 'gradient of a rank' noenhanced center font small at graph 0.5, \
            screen (top_of(g) - legend_height - plot_height - 22) / height
        all = names_of[1].names_of[2].names_of[3].names_of[4]
        plot for [k = 1:words(all)] csv using (x_of(word(all, k))):(y(what)) smooth unique \
                with lines linecolor rgb light linewidth 0.6, \
            csv using (drawn(0) && is_own(strcol('name')) ? column('bytes') : NaN):(y(what)) \
                smooth unique with lines linecolor rgb 'black' linewidth 1.2, \
            for [k = 1:words(names)] csv using (x_of(word(names, k))):(y(what)) smooth unique \
                with lines linecolor rgb colour(k) linewidth 1, \
            for [k = 1:words(names)] csv using (x_of(word(names, k))):(y(what)) with points \
                linecolor rgb colour(k) pointtype shape(solid, k) pointsize 0.8 * scale, \
            for [k = 1:words(names)] csv using (x_of(word(names, k))):(y_lo(what)):(0): \
                (y_hi(what) - y_lo(what)) with vectors heads size graph 0.013, 90 fixed nofilled \
                linecolor rgb dark(k) linewidth 0.6
    }
    unset multiplot
    unset output
}
