# Draws what style.gp and the script of a figure prepared: a legend above, the plot, the caption below.
# Lengths are points; the picture is a column of 3.5 in.

width = 252.0
legend_row = 11.0
caption_row = 8.6
longest_name = 0
do for [k = 1:series_n] { n = strlen(series_name(k)); longest_name = n > longest_name ? n : longest_name }
entries = series_n + (reference_n > 0) + (oversubscribed_n > 0) + (doubtful_n > 0)
legend_columns = longest_name > 22 ? 1 : 2
legend_height = legend_row * ceil(entries / real(legend_columns)) + 3
caption_height = caption_row * caption_n + 4
plot_height = 140.0
axis_height = 30.0
height = legend_height + plot_height + axis_height + caption_height

set lmargin at screen 42 / width
set rmargin at screen 1 - 8 / width
set tmargin at screen 1 - legend_height / height
set bmargin at screen (caption_height + axis_height) / height
set key at screen 8 / width, screen 1 - 2 / height left top Left reverse noenhanced
set key horizontal maxcols legend_columns samplen 2.2 width 1

do for [k = 1:caption_n] {
    set label value(sprintf('caption%d', k)) noenhanced font ',6.5' textcolor rgb '#303030' \
        at screen 4 / width, screen (caption_height - caption_row * (k - 0.4)) / height left
}
do for [k = 1:missing_n] {
    set label value(sprintf('missing%d_text', k)) noenhanced font ',6.5' textcolor rgb grey \
        at first value(sprintf('missing%d_ranks', k)), graph 0.03 left rotate by 90 \
        offset character 1.2 * value(sprintf('missing%d_nth', k)), 0
}
if (values_n == 0) {
    set yrange [0:1]
    unset ytics
    set label 'no point was measured' at graph 0.5, graph 0.5 center textcolor rgb grey
}

do for [format in 'svg png'] {
    # A logical point is 2 pixels of the svg and 300/72 of the png.
    if (format eq 'svg') {
        set terminal svg size 2 * width, 2 * height font 'Helvetica,DejaVu Sans,sans-serif,8' \
            fontscale 2 linewidth 2 background rgb 'white' name 'scalebench'
        scale = 1.0
    } else {
        set terminal pngcairo size width * 300 / 72, height * 300 / 72 font 'Sans,8' \
            fontscale 300 / 72.0 linewidth 300 / 72.0 pointscale 300 / 72.0
        scale = 0.5
    }
    set output out.'.'.format
    plot for [k = 1:reference_n] reference(k, x) with lines linecolor rgb grey linewidth 0.8 \
            dashtype 3 title k == 1 ? reference_name : '', \
        for [k = 1:series_n] csv using (x_ok(k)):(y()) smooth unique with lines \
            linecolor rgb pick(colours, k) linewidth 1 dashtype series_dash(k) notitle, \
        for [k = 1:series_n] csv using (x_any(k)):(y()):(y_lo()):(y_hi()) with yerrorbars \
            linecolor rgb pick(colours, k) linewidth 0.8 pointtype 0 notitle, \
        for [k = 1:series_n] csv using (x_solid(k)):(y()) with points \
            linecolor rgb pick(colours, k) pointtype pick(solid, k) + 0 pointsize scale notitle, \
        for [k = 1:series_n] csv using (x_hollow(k)):(y()) with points \
            linecolor rgb pick(colours, k) pointtype pick(hollow, k) + 0 pointsize scale notitle, \
        for [k = 1:series_n] csv using (x_doubtful(k)):(y()) with points \
            linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale notitle, \
        for [k = 1:series_n] keyentry with linespoints linecolor rgb pick(colours, k) \
            dashtype series_dash(k) pointtype pick(solid, k) + 0 pointsize scale title series_name(k), \
        for [k = 1:oversubscribed_n > 0] keyentry with points linecolor rgb grey \
            pointtype 6 pointsize scale title 'more threads than cores', \
        for [k = 1:doubtful_n > 0] keyentry with points linecolor rgb 'black' \
            pointtype 2 pointsize 1.3 * scale title 'failed or unverified'
    unset output
}
