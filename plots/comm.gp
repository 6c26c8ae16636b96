# What sums of gradients take over their size: a panel for each few operations, the library's own call
# in all of them. `scalebench figures` assigns, before it loads this:
#   plots, csv, link, out   this folder; the sweep's tables; the path of the pictures without ending
#   figure                  latency or busbw

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN
load plots.'/palette.gp'

# What is drawn of the current row. `none` moves nothing: its bytes over no time would be all the range.
drawn(c) = strcol('part') eq 'flat' && strcol('verdict') ne 'cannot run' && strcol('name') ne 'none'
x_of(name) = drawn(0) && strcol('name') eq name ? column('bytes') : NaN
of_time(us) = figure eq 'latency' ? us \
    : column('busbw_gbyte_per_s') * column('latency_us') / us
y(c) = of_time(column('latency_us'))
y_lo(c) = of_time(column(figure eq 'latency' ? 'latency_us_lo' : 'latency_us_hi'))
y_hi(c) = of_time(column(figure eq 'latency' ? 'latency_us_hi' : 'latency_us_lo'))

# Operations in the order of the table, a list for each kind: 1 algorithms of the library, 2 strategies
# that sum, 3 those that promise no sum, 4 compressed sums. The library's own choice is in every panel.
titles = '"algorithms of the library" "strategies that sum" "strategies that promise no sum" "compressed sums"'
array names_of[4]
do for [k = 1:4] { names_of[k] = '' }
kind_of(name) = name[1:4] eq 'MPI_' ? 1 : strstrt(name, '+') > 0 ? 4 : strcol('verdict') eq 'not a sum' ? 3 : 2
has(list, name) = strstrt(list.' ', ' '.name.' ') > 0
add(k, name) = has(names_of[k], name) || (k == 1 && strcol('algorithm') eq 'auto') ? 0 \
    : (names_of[k] = names_of[k].' '.name, 0)
# What all rows share is that of the first.
ranks = 0
share(c) = ranks > 0 ? 0 : (ranks = column('ranks'), nodes = column('nodes'), rounds = column('turns'), \
    waiting = strcol('wait'), mpi = strcol('mpi'), 0)
stats csv using (drawn(0) ? share(0) + add(kind_of(strcol('name')), strcol('name')) : 0) nooutput

# A panel has at most six of a kind.
array group_title[32]
array group_names[32]
groups = 0
do for [k = 1:4] {
    n = words(names_of[k])
    panels = int((n + 5) / 6)
    do for [p = 1:panels] {
        groups = groups + 1
        group_title[groups] = word(titles, k)
        group_names[groups] = ''
        do for [i = (p - 1) * n / panels + 1:p * n / panels] {
            group_names[groups] = group_names[groups].' '.word(names_of[k], i)
        }
    }
}

alpha = beta = gamma = NaN
name_is(name) = strcol('coefficient') eq name
stats link using (name_is('alpha_us') ? (alpha = column('value'), 0) \
    : name_is('beta_ns_per_byte') ? (beta = column('value'), 0) \
    : name_is('gamma_ns_per_byte') ? (gamma = column('value'), 0) : 0) nooutput
cost(x, what) = x == x ? sprintf(' %.3g%s', x, what) : ''
caption1 = sprintf('%d ranks on %d node%s, waiting: %s, %s; this machine:%s%s%s.', ranks, nodes, \
    nodes == 1 ? '' : 's', waiting, mpi, cost(alpha, ' us a message,'), \
    cost(beta, ' ns a byte sent,'), cost(gamma, ' ns a byte added'))
caption2 = sprintf('One tensor. Median of %d rounds, in each of which every operation runs; bars: 95 %% interval, of few rounds least to greatest.', rounds)
caption3 = figure eq 'latency' ? 'Slowest rank, without the optimizer.' \
    : 'Bytes over time x 2 (p - 1) / p, as nccl-tests defines busbw.'
y_title = figure eq 'latency' ? 'time of a step' : 'GB/s'

# Lengths are points; the picture spans a page of 7 in, in rows of three panels.
across = groups < 3 ? groups : 3
rows = (groups + across - 1) / across
width = 168.0 * across
legend_row = 8.6
entries = 0
do for [g = 1:groups] {
    entries = words(group_names[g]) > entries ? words(group_names[g]) : entries
}
legend_height = legend_row * (entries + 1) + 6
plot_height = 112.0
axis_height = 24.0
panel_height = legend_height + plot_height + axis_height
caption_height = 32.0
height = rows * panel_height + caption_height + legend_row + 4

left_of(g) = 168.0 * ((g - 1) % across)
top_of(g) = height - legend_row - 4 - panel_height * ((g - 1) / across)
legend_y(g, k) = top_of(g) - legend_row * (k - 0.5) - 2

set border 3 linewidth 0.6 linecolor rgb '#404040'
set grid linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
unset key
set logscale xy

# The range of all panels: that of the rows that are drawn.
stats csv using (drawn(0) ? column('bytes') : NaN) name 'X' nooutput
stats csv using (drawn(0) ? y_lo(0) : NaN) name 'LO' nooutput
stats csv using (drawn(0) ? y_hi(0) : NaN) name 'HI' nooutput
set xrange [X_min / 2 : X_max * 2]
set yrange [LO_min / 1.4 : HI_max * 1.4]
unset xtics
unset ytics
set xtics nomirror out scale 0.5
set xtics ('4B' 4)
units = 'B K M G'
do for [k = 1:8] {
    power = 2 + 4 * k
    set xtics add (sprintf('%d%s', 2**(power % 10), word(units, power / 10 + 1)) 2.0**power)
}
set ytics nomirror out scale 0.5
set ytics ('' 1e-9)
do for [decade = -6:7] {
    set ytics add ((figure ne 'latency' ? sprintf('%g', 10.0**decade) \
        : decade < 0 ? '' : decade < 3 ? sprintf('%g µs', 10.0**decade) \
        : decade < 6 ? sprintf('%g ms', 10.0**(decade - 3)) \
        : sprintf('%g s', 10.0**(decade - 6))) 10.0**decade)
}

do for [format in formats] {
    load plots.'/terminal.gp'
    set tics font small
    set output out.'.'.format
    set multiplot
    do for [g = 1:groups] {
        set lmargin at screen (left_of(g) + 42) / width
        set rmargin at screen (left_of(g) + 162) / width
        set tmargin at screen (top_of(g) - legend_height) / height
        set bmargin at screen (top_of(g) - legend_height - plot_height) / height
        unset label
        unset arrow
        names = group_names[g]
        set label group_title[g] noenhanced font small left \
            at screen (left_of(g) + 42) / width, screen legend_y(g, 1) / height
        do for [k = 1:words(names)] {
            set arrow from screen (left_of(g) + 44) / width, screen legend_y(g, k + 1) / height \
                to screen (left_of(g) + 58) / width, screen legend_y(g, k + 1) / height nohead \
                linecolor rgb colour(k) linewidth 1
            set label '' at screen (left_of(g) + 51) / width, screen legend_y(g, k + 1) / height \
                point linecolor rgb colour(k) pointtype shape(solid, k) \
                pointsize 0.8 * scale
            set label word(names, k) noenhanced font small left \
                at screen (left_of(g) + 62) / width, screen legend_y(g, k + 1) / height
        }
        if (g == 1) {
            set arrow from screen 8 / width, screen (height - legend_row / 2 - 1) / height \
                to screen 26 / width, screen (height - legend_row / 2 - 1) / height nohead \
                linecolor rgb grey linewidth 1.4 dashtype 3
            set label 'the library''s own call (MPI_Allreduce), by the algorithm it chooses' noenhanced \
                font small left at screen 31 / width, screen (height - legend_row / 2 - 1) / height
            do for [k = 1:3] {
                set label value(sprintf('caption%d', k)) noenhanced font small \
                    textcolor rgb '#303030' left \
                    at screen 4 / width, screen (caption_height - 9 * (k - 0.4)) / height
            }
        }
        if ((g - 1) % across == 0) {
            set label y_title rotate center font small \
                at screen 6 / width, screen (top_of(g) - legend_height - plot_height / 2) / height
        }
        plot csv using (x_of('MPI_Allreduce')):(y(0)) smooth unique with lines \
                linecolor rgb grey linewidth 1.4 dashtype 3, \
            for [k = 1:words(names)] csv using (x_of(word(names, k))):(y(0)) smooth unique \
                with lines linecolor rgb colour(k) linewidth 1, \
            for [k = 1:words(names)] csv using (x_of(word(names, k))):(y_lo(0)):(0): \
                (y_hi(0) - y_lo(0)) with vectors heads size graph 0.009, 90 nofilled \
                linecolor rgb colour(k) linewidth 0.8, \
            for [k = 1:words(names)] csv using (x_of(word(names, k))):(y(0)) with points \
                linecolor rgb colour(k) pointtype shape(solid, k) pointsize 0.8 * scale
    }
    unset multiplot
    unset output
}
