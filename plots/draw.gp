# Draws the figure that style.gp and a figure's script prepared: legend, plot, points without a value, caption.
# Lengths are in points; a column is 3.5 in wide. Legend and titles are labels, so that their places do not depend on a
# terminal's idea of its fonts.

width = width_of(size)
if (size eq 'slide' && plot_height < 190) {
    plot_height = 190.0
}
legend_row = 9.6
caption_row = 8.6
if (!exists('parts_n')) {
    parts_n = 0
}
# The legend names drawn items alone: reference lines need two ends, and an empty figure has no curves.
if (nothing ne '' || (reference_n > 0 && x_n == 1)) {
    reference_n = 0
}
if (nothing ne '') {
    legend_n = 0
}
# Keeps the parts that are visible in some bar.
shown_parts = ''
do for [k = 1:parts_n] {
    part_most = 0
    stats [*:*][*:*] data using (part_of(k) > part_most ? (part_most = part_of(k), 0) : 0) nooutput
    shown_parts = shown_parts.(part_most > most / 500 ? sprintf('%d ', k) : '')
}
parts_rows = (words(shown_parts) + 3) / 4
# Breaks legend lines that are wider than the figure.
set print $caption
eval print_lines('caption', letters)
set print $missing
eval print_lines('missing', letters)
longest = 0
legend_most = int((width - 35) / 4.4)
array begins[legend_n + 1]          # line of the legend in which each curve begins
begins[1] = 1
set print $legend
do for [k = 1:legend_n] {
    longest = strlen(series_name(k)) > longest ? strlen(series_name(k)) : longest
    eval print_lines('series_name(k)', legend_most)
    begins[k + 1] = |$legend| + 1
}
set print
legend_lines = |$legend|
# Collects marks for the legend.
published_n = oversubscribed_n = doubtful_n = model_n = 0
note_marks(name) = (oversubscribed_n = oversubscribed_n + (has_value(name) && strstrt(strcol('flags'), 'oversubscribed') > 0), \
    doubtful_n = doubtful_n + (has_value(name) && is_doubtful(0)), \
    published_n = published_n + (is_beside(0) && has_number(beside(name, 'published'))), \
    model_n = model_n + (has_model && has_number(model_in(name))), 0)
do for [name in shown] {
    stats data using (is_drawn(0) ? note_marks(name) : 0) nooutput
}
# Puts many curves with short names in two columns.
legend_rows = legend_n > 6 && longest < (width / 2 - 16) / 4.4 ? (legend_lines + 1) / 2 : legend_lines
entries = (reference_n > 0) + legend_rows + parts_rows + (published_n > 0) + (oversubscribed_n > 0) \
    + (doubtful_n > 0) + (model_n > 0) + (tick_name ne '') + (dots_n > 0)
title_lines = title eq '' ? 0 : 1
if (is_long(title, width + 20)) {
    broken_title = title
    eval break_title
    title = broken_title
    title_lines = 2
}
title_height = 13.0 * title_lines
legend_height = legend_row * entries + 8 + title_height
caption_height = caption_row * |$caption| + 4
least_height = caption_height / caption_share - legend_height - axis_height - caption_height
plot_height = plot_height > least_height ? plot_height : least_height
# Lists points without a value below the axis.
below = caption_height + (|$missing| > 0 ? caption_row * |$missing| + 3 : 0)
height = legend_height + plot_height + axis_height + below

title_room = 0
y_title = y_title.y_note
if (is_long(y_title, plot_height + 40)) {
    broken_title = y_title
    eval break_title
    y_title = broken_title
    title_room = 9.0
}
left = is_horizontal ? 14 : left + title_room
set lmargin at screen left / width
set rmargin at screen 1 - right / width
set tmargin at screen 1 - legend_height / height
set bmargin at screen (below + axis_height) / height
unset key

if (nothing ne '') {
    eval !is_horizontal ? 'set yrange [0:1]; unset ytics' : 'set xrange [0:1]; unset xtics'
}
set samples 2000

# Centres of row k of the legend and of line k of the caption.
legend_y(k) = 1 - (title_height + legend_row * (k - 0.5) + 1) / height
caption_y(k) = (caption_height - caption_row * (k - 0.4)) / height
missing_y(k) = (below - caption_row * (k - 0.4)) / height

do for [format in formats] {
    load plots.'/terminal.gp'
    unset label
    unset arrow

    row = 0
    if (title ne '') {
        set label title noenhanced center at screen 0.5, screen 1 - 7 / height   # centre of the first line
    }
    if (reference_n > 0) {
        row = row + 1
        set arrow from screen 8 / width, screen legend_y(row) \
            to screen 26 / width, screen legend_y(row) nohead \
            linecolor rgb grey linewidth 0.9 dashtype 16
        set label reference_name noenhanced at screen 31 / width, screen legend_y(row) left
    }
    do for [k = 1:legend_n] {
        do for [i = begins[k]:begins[k + 1] - 1] {
            legend_x = i > legend_rows ? width / 2 : 8
            legend_at = legend_y(row + (i - 1) % legend_rows + 1)
            if (i == begins[k] && legend_line(k) > 0) {
                set arrow from screen legend_x / width, screen legend_at \
                    to screen (legend_x + 18) / width, screen legend_at nohead \
                    linecolor rgb legend_colour(k) linewidth legend_line(k) dashtype legend_dash(k)
            }
            if (i == begins[k]) {
                set label '' at screen (legend_x + 9) / width, screen legend_at point linecolor rgb legend_colour(k) \
                    pointtype legend_mark(k) pointsize scale
            }
            set label ''.$legend[i] noenhanced at screen (legend_x + 23) / width, screen legend_at left
        }
    }
    row = row + legend_rows
    do for [k = 1:words(shown_parts)] {
        part = int(word(shown_parts, k))
        legend_x = 8 + 60 * ((k - 1) % 4)
        legend_part = row + 1 + (k - 1) / 4
        set label '' at screen (legend_x + 4) / width, screen legend_y(legend_part) point \
            linecolor rgb word(part_colours, part) pointtype 5 pointsize 1.3 * scale
        set label bare(word(parts, part)) at screen (legend_x + 11) / width, screen legend_y(legend_part) left
    }
    row = row + parts_rows
    if (tick_name ne '') {
        row = row + 1
        set arrow from screen 17 / width, screen legend_y(row) - 3.5 / height \
            to screen 17 / width, screen legend_y(row) + 3.5 / height nohead \
            linecolor rgb grey linewidth 1.5
        set label tick_name at screen 31 / width, screen legend_y(row) left
    }
    if (model_n > 0) {
        row = row + 1
        if (model_tick) {
            set arrow from screen 17 / width, screen legend_y(row) - 3.5 / height \
                to screen 17 / width, screen legend_y(row) + 3.5 / height nohead \
                linecolor rgb 'black' linewidth 1
        } else {
            set arrow from screen 8 / width, screen legend_y(row) \
                to screen 26 / width, screen legend_y(row) nohead \
                linecolor rgb grey linewidth 0.5 dashtype 4
        }
        set label model_name at screen 31 / width, screen legend_y(row) left
    }
    if (dots_n > 0) {
        row = row + 1
        do for [k = 1:3] {
            set label '' at screen (8 + 4.5 * k) / width, screen legend_y(row) - (k % 2 ? 1.2 : -1.2) / height \
                point linecolor rgb faint(grey) pointtype 7 pointsize 0.5 * scale linewidth 0.1
        }
        set label dots_name at screen 31 / width, screen legend_y(row) left
    }
    if (published_n > 0) {
        row = row + 1
        set label '' at screen 17 / width, screen legend_y(row) point \
            linecolor rgb mark_colour pointtype published_shape pointsize 1.5 * scale
        set label published_name noenhanced at screen 31 / width, screen legend_y(row) left
    }
    if (oversubscribed_n > 0) {
        row = row + 1
        set label '' at screen 17 / width, screen legend_y(row) point linecolor rgb grey \
            pointtype ring_shape pointsize scale linewidth 1.5
        set label 'oversubscribed' at screen 31 / width, screen legend_y(row) left
    }
    if (doubtful_n > 0) {
        row = row + 1
        set label '' at screen 17 / width, screen legend_y(row) point linecolor rgb 'black' \
            pointtype 2 pointsize 1.3 * scale linewidth 1.5
        set label 'failed or unverified' at screen 31 / width, screen legend_y(row) left
    }

    set label x_title noenhanced center at graph 0.5, screen (below + 8) / height
    set label y_title noenhanced rotate center \
        at screen (7 + title_room / 2) / width, screen (below + axis_height + plot_height / 2) / height
    do for [k = 1:|$missing|] {
        set label ''.$missing[k] noenhanced font small textcolor rgb grey left \
            at screen 4 / width, screen missing_y(k)
    }
    do for [k = 1:|$caption|] {
        set label ''.$caption[k] noenhanced font small textcolor rgb '#303030' left \
            at screen 4 / width, screen caption_y(k)
    }
    if (nothing ne '') {
        set label nothing at graph 0.5, graph 0.5 center textcolor rgb grey
    }

    if (broken ne '') {
        eval break_axis(broken)
    }

    set output out.'.'.format
    load plots.'/'.panel
    unset output
}
