# Ops of the compiled nets under the roof of one core: its fastest matrix product, and what its memory
# gives. Operations are those done: by those of the net as written, ops that save some (Winograd, zeros)
# would stand above what the core can do. `scalebench figures` assigns, before it loads this:
#   plots      this folder
#   csv, out   the sweep's table; the path of the pictures without ending

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN

load plots.'/palette.gp'

# The plan of the first row is drawn; what all rows share is that of the first too.
models = ''
plan = ''
first(c) = plan ne '' ? 0 : (plan = strcol('plan'), peak = column('peak_gflop_per_s'), \
    memory = column('memory_gbyte_per_s'), isa = strcol('isa'), batch = column('batch'), \
    blas = strcol('blas'), repeats = column('repeats'), least = peak / 10, most = peak, 0)
add(name) = strstrt(models.' ', ' '.name.' ') > 0 ? 0 : (models = models.' '.name, 0)
span(rate) = (least = rate < least ? rate : least, most = rate > most ? rate : most, 0)
stats csv using (first(0) + add(strcol('model')) + (strcol('part') eq 'op' && column('flop_done') > 0 \
    ? span(column('gflop_done_per_s')) : 0)) nooutput
caption1 = sprintf('%s kernels, plan %s, batch %d, %s, one core.', isa, plan, batch, blas)
caption2 = sprintf('Median of %d calls. Ops without operations are left out.', repeats)
caption3 = 'FLOPs done, not as written. Above the slope: operands in caches.'

# Ops that compute: pooling and the like have no place where operations are counted.
drawn(k, p) = strcol('part') eq 'op' && strcol('plan') eq plan && strcol('model') eq word(models, k) \
    && strcol('pass') eq p && column('flop_done') > 0
x_of(k, p) = drawn(k, p) ? column('flop_done') / column('bytes') : NaN
roof(x) = memory * x < peak ? memory * x : peak

width = 252.0
legend_row = 9.6
rows = words(models) + 2
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
set xrange [0.5:1000]
set yrange [least / 2:most * 2]
set tics nomirror out scale 0.5
set samples 500

do for [format in formats] {
    load plots.'/terminal.gp'
    unset label
    unset arrow
    set arrow from screen 8 / width, screen legend_y(1) to screen 26 / width, screen legend_y(1) \
        nohead linecolor rgb grey linewidth 1
    set label sprintf('roof: %.3g GFLOP/s, %.3g GB/s', peak, memory) \
        at screen 31 / width, screen legend_y(1) left
    do for [k = 1:words(models)] {
        set label '' at screen 17 / width, screen legend_y(k + 1) point \
            linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale
        set label word(models, k) noenhanced at screen 31 / width, screen legend_y(k + 1) left
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
    plot roof(x) with lines linecolor rgb grey linewidth 1, \
        for [k = 1:words(models)] csv using (x_of(k, 'forward')):(column('gflop_done_per_s')) with points \
            linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale, \
        for [k = 1:words(models)] csv using (x_of(k, 'backward')):(column('gflop_done_per_s')) with points \
            linecolor rgb colour(k) pointtype shape(hollow, k) pointsize scale
    unset output
}
