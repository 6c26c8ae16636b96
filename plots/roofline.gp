# Operations of compiled networks under the roofs of one core: arithmetic in registers, one roof per instruction set, and
# memory bandwidth. Counts performed FLOPs: by the FLOPs as written, operations that skip some (Winograd, zeros) would be
# above the roof. `scalebench figures` first assigns:
#   plots      this folder
#   csv, out   the sweep's table; the path of the figures without ending

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

load plots.'/palette.gp'

# Draws the plan of the first row and reads shared values from it. A series is a network with an instruction set.
series = ''
models = ''
isas = ''
sets = ''
peaks = ''
plan = ''
first(c) = plan ne '' ? 0 : (plan = strcol('plan'), memory = column('memory_gbyte_per_s'), \
    batch = column('batch'), blas = strcol('blas'), repeats = column('repeats'), \
    least = column('unit_gflop_per_s') / 10, most = least, 0)
add(name, isa) = strstrt(series.' ', ' '.name.'/'.isa.' ') > 0 ? 0 : \
    (series = series.' '.name.'/'.isa, models = models.' '.name, isas = isas.' '.isa, 0)
add_set(isa, peak) = strstrt(sets.' ', ' '.isa.' ') > 0 ? 0 : \
    (sets = sets.' '.isa, peaks = peaks.sprintf(' %.9g', peak), span(peak))
span(rate) = (least = rate < least ? rate : least, most = rate > most ? rate : most, 0)
x_least = 0.5
x_most = 1000.0
place(x) = (x_least = x < x_least ? x : x_least, x_most = x > x_most ? x : x_most, 0)
stats csv using (first(0) + add(strcol('model'), strcol('isa')) \
    + add_set(strcol('isa'), column('unit_gflop_per_s')) \
    + (strcol('part') eq 'op' && column('flop_done') > 0 \
        ? span(column('gflop_done_per_s')) + place(column('flop_done') / column('bytes')) : 0)) nooutput
caption1 = sprintf('Kernels of%s, plan %s, batch %d, one core.', sets, plan, batch)
caption2 = sprintf('%s; median of %d calls; ops without operations left out.', blas, repeats)
caption3 = 'FLOPs done, not as written. Above the slope: operands in caches.'

# Skips operations without FLOPs, such as pooling.
drawn(k, p) = strcol('part') eq 'op' && strcol('plan') eq plan && strcol('model') eq word(models, k) \
    && strcol('isa') eq word(isas, k) && strcol('pass') eq p && column('flop_done') > 0
x_of(k, p) = drawn(k, p) ? column('flop_done') / column('bytes') : NaN
peak(r) = word(peaks, r) + 0.0
roof(x, r) = memory * x < peak(r) ? memory * x : peak(r)
name(k) = word(models, k).(words(sets) > 1 ? ', '.word(isas, k) : '')

width = 252.0
legend_row = 9.6
roofs = words(sets)
roof_dash(r) = int(pick('1 13 15 12', r))
rows = roofs + words(models) + 1
legend_height = legend_row * rows + 8
caption_height = 33.0
axis_height = 30.0
plot_height = 150.0
height = legend_height + plot_height + axis_height + caption_height
legend_y(k) = 1 - (legend_row * (k - 0.5) + 1) / height

set lmargin at screen 40 / width
set rmargin at screen 1 - 12 / width
set tmargin at screen 1 - legend_height / height
set bmargin at screen (caption_height + axis_height) / height
unset key
set border 3 linewidth 0.6 linecolor rgb '#404040'
set grid linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set logscale xy
set xrange [x_least:x_most]
set yrange [least / 2:most * 2]
set tics nomirror out scale 0.5
set samples 500

do for [format in formats] {
    load plots.'/terminal.gp'
    unset label
    unset arrow
    do for [r = 1:roofs] {
        set arrow from screen 8 / width, screen legend_y(r) to screen 26 / width, screen legend_y(r) \
            nohead linecolor rgb grey linewidth 1 dashtype roof_dash(r)
        set label sprintf('roof: %.3g GFLOP/s, %.3g GB/s%s', peak(r), memory, \
            roofs > 1 ? ', '.word(sets, r) : '') noenhanced at screen 31 / width, screen legend_y(r) left
    }
    do for [k = 1:words(models)] {
        set label '' at screen 17 / width, screen legend_y(k + roofs) point \
            linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale
        set label name(k) noenhanced at screen 31 / width, screen legend_y(k + roofs) left
    }
    set label 'filled: forward; hollow: backward' at screen 31 / width, screen legend_y(rows) left
    set label 'FLOP done per byte of least traffic' center at graph 0.5, \
        screen (caption_height + 8) / height
    set label 'GFLOP/s done' rotate center \
        at screen 7 / width, screen (caption_height + axis_height + plot_height / 2) / height
    do for [k = 1:3] {
        set label value(sprintf('caption%d', k)) noenhanced font small textcolor rgb '#303030' left \
            at screen 4 / width, screen (caption_height - 9 * (k - 0.4)) / height
    }
    set output out.'.'.format
    plot for [r = 1:roofs] roof(x, r) with lines linecolor rgb grey linewidth 1 dashtype roof_dash(r), \
        for [k = 1:words(models)] csv using (x_of(k, 'forward')):(column('gflop_done_per_s')) with points \
            linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale, \
        for [k = 1:words(models)] csv using (x_of(k, 'backward')):(column('gflop_done_per_s')) with points \
            linecolor rgb colour(k) pointtype shape(hollow, k) pointsize scale
    unset output
}
