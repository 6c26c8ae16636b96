# Defaults of all figures. bench/figures/figure_define.c assigns these variables, then loads the script of a figure:
#   plots, data, out             this folder; series_<figure>.csv; the path of the figures without ending
#   dots_data, dots_name         dots_<figure>.csv, the launches behind each value ('': none); their name
#   scaling                      strong, weak, epoch or none
#   spread_marks                 " CURVE@X=ASIDE;" for each mark that is shifted sideways, ASIDE in widths of a mark
#   seriesK_name                 name of the K-th curve in the legend
#   bounds                       curves of ranks that do not communicate, which are bounds and no results; as words
#   missing                      points without a value, in a figure over ranks
#   caption, caption_share       the caption; its largest share of the figure's height
#   published_name               name of published values in the legend
#   has_model, model_name        1: the series file has the model line; its name in the legend
#   withheld                     flag of points that are ok but without a valid value of this quantity; '': none
#   nothing                      reason why there is no value; '': there is one
#   title, size, x_scale, y_scale  keys of the figure in the spec; '': no title
#   shape_of                     line or bars
#   columns                      quantities of the figure (y), as words
#   columnK_title, _most         title of the K-th axis; largest possible value: 100 for shares, else NaN
# and those that over_ranks.gp and line.gp list.
#
# The script of a figure loads this file, then the file of its kind (over_ranks.gp, by_point.gp), changes defaults and
# loads draw.gp. Before this file it may set
#   shown                        columns of the series file with the values, as words
#   has_stems                    1: intervals and published values have columns of their own

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN    # rows of other series do not break a line

load plots.'/palette.gp'
if (!exists('shown')) {
    shown = 'value'
}
if (!exists('has_stems')) {
    has_stems = 0
}
y_title = column1_title
percent_most = column1_most

# Defaults that a script may change.
plot_height = 140.0                 # points
is_horizontal = 0                   # 1: bars are horizontal
axis_height = 30.0                  # room for ticks and title below the plot, points
left = 48.0                         # room for ticks and title beside the plot, points
legend_n = 0                        # entries of series in the legend
right = 8.0                         # margin, points
whisker = 0.016                     # half the end of an interval, share of the plot's width; wider than marks
whisker_colour = '#101010'          # which lies above them, where a bar is below
mark_colour = grey                  # published marks in the legend
ring_shape = 6                      # oversubscribed marks in the legend
model_tick = 0                      # 1: the legend shows the model as a tick across a bar, 0: as a line
tick_name = ''                      # name of a grey tick across bars
reference_n = 0                     # reference lines
reference_name = ''

# The current row. Its first column is the number of its curve or bar, or empty.
has_value(name) = strlen(strcol(name)) > 0
value_in(name) = has_value(name) ? column(name) : NaN
# gnuplot keeps the text of an empty last column from other rows, and its number is undefined, which ends the expression.
# So tests of such columns come last.
has_number(name) = has_value(name) && column(name) == column(name)
is_drawn(row) = strlen(strcol(1)) > 0
# Columns that belong to a value; the stem of a share has no unit.
stem_of(name) = strlen(name) > 4 && name[strlen(name) - 3:] eq '_pct' ? name[1:strlen(name) - 4] : name
beside(name, what) = has_stems ? stem_of(name).'_'.what : what
has_ends(name) = has_stems || name eq 'value'
model_in(name) = has_model ? beside(name, 'model') : ''
is_beside(row) = 1                  # whether a published value belongs to a curve that was measured here
is_doubtful(row) = strcol('status') ne 'ok' && strcol('status') ne 'skipped'

# Smallest and largest value above 0, published ones included; lowest value or interval end; NaN: none.
least = most = lowest = NaN
lower(a, b) = a == a && (b != b || a < b) ? a : b
higher(a, b) = a == a && (b != b || a > b) ? a : b
note_value(x) = (x > 0 ? (least = lower(x, least), most = higher(x, most)) : 0, lowest = lower(x, lowest), 0)
note_row(name) = (note_value(value_in(name)), \
    has_ends(name) ? (lowest = lower(value_in(beside(name, 'lo')), lowest)) : 0, \
    note_value(value_in(beside(name, 'published'))))
drawn_n = 0                         # curves or bars
do for [name in shown] {
    stats data using (is_drawn(0) ? (drawn_n = higher(column(1), drawn_n), note_row(name)) : 0) nooutput
}
highest = most
has_zero = lowest <= 0
# Single launches may exceed the intervals. A single one is the median.
dots_n = 0
note_dot(x) = (lowest = lower(x, lowest), highest = higher(x, highest), dots_n = dots_n + (column('n') > 1), 0)
if (dots_data ne '') {
    stats dots_data using (is_drawn(0) ? note_dot(column('value')) : 0) nooutput
}

# Published values come from other machines and may be too far apart for a linear axis. A logarithmic axis has no 0.
is_wide = !has_zero && most > 30 * least
log_marks = most > 2000 * least ? '1' : most > 20 * least ? '1 2 5' : most > 4 * least ? '1 1.5 2 3 5 7' \
    : '1 1.5 2 2.5 3 4 5 6 8'
log_note = ', log scale'            # appended to the title of a logarithmic axis
log_ticks(axis) = "set logscale ".axis."; unset ".axis."tics; set ".axis."tics nomirror out scale 0.5; ".\
        "set ".axis."tics ('' 1); do for [decade = -6:12] { do for [m in log_marks] { ".\
        "t = m * 10.0**decade; set ".axis."tics add (t < 1e4 ? sprintf('%g', t) : gprintf('%.0s%c', t) t) } }; "

# Writes large numbers on a linear axis from 0 as 40k and 2.5M, so that ticks do not touch. Ticks have a fraction if they
# are below ten of the unit.
has_tens(most) = most / 1000.0**floor(log10(most) / 3) >= 10
big_ticks(axis, most) = most >= 1e4 ? "set format ".axis." '%.".(has_tens(most) ? '0' : '1')."s%c'; ".\
        "set ".axis."tics add ('0' 0)" : ''

# An axis of shares ends at 100 %. It begins at 0, or just below the lowest value if differences would not be visible.
# Then its line is broken, and its title states where it begins.
percent_step(low) = low < 40 ? 20 : low < 70 ? 10 : low < 85 ? 5 : low < 92 ? 2 : low < 96 ? 1 \
    : low < 98.4 ? 0.5 : 0.2
shown_from(low, step) = step * floor((low - 0.05 * (100 - low)) / step)
aligned(from) = percent_step(from) * floor(from / percent_step(from) + 1e-6)
percent_from(low) = low < 50 || low > 100 || low != low ? 0 \
    : aligned(shown_from(low < 99.6 ? low : 99.6, percent_step(low)))
percent_axis(axis, low) = sprintf("set offsets 0, 0, 0, 0; set %srange [%g:100]; set %stics %g, %g, 100; ", \
    axis, percent_from(low), axis, percent_from(low), percent_step(percent_from(low)))
cut_title(low) = percent_from(low) > 0 ? sprintf(', axis from %g', percent_from(low)) : ''
# Draws two strokes across the axis near its start.
break_axis(axis) = "do for [stroke = 0:1] { set arrow from graph ".(axis eq 'y' \
    ? "-0.012, graph 0.025 + 0.025 * stroke to graph 0.012, graph 0.045 + 0.025 * stroke" \
    : "0.008 + 0.012 * stroke, graph -0.025 to graph 0.018 + 0.012 * stroke, graph 0.025")\
    ." nohead front linecolor rgb '#404040' linewidth 0.8 }"
y_note = ''                         # appended to the title of y
broken = ''                         # the axis that does not begin at 0

# Breaks a title that is longer than its axis (`room` points) at the blank nearest to its middle.
is_long(text, room) = strlen(text) * 4.6 > room
break_title = "middle = strlen(broken_title) / 2; cut = 0; do for [at = 1:strlen(broken_title)] { \
    if (broken_title[at:at] eq ' ' && abs(at - middle) < abs(cut - middle)) { cut = at } }; \
    if (cut > 0) { broken_title = broken_title[1:cut - 1].\"\\n\".broken_title[cut + 1:*] }"

# Prints the text of a variable in lines of at most `room` letters, broken at blanks but not before %.
blank_before(text, at) = at < 1 ? 0 : text[at:at] eq ' ' && text[at + 1:at + 1] ne '%' ? at : blank_before(text, at - 1)
end_of_line(text, room) = strlen(text) <= room ? strlen(text) + 1 : blank_before(text, room + 1) > 0 \
    ? blank_before(text, room + 1) : strstrt(text.' ', ' ')
print_lines(name, room) = sprintf("rest = %s; while (rest ne '') { cut = end_of_line(rest, %d); ", name, room) \
    ."print rest[1:cut - 1]; rest = rest[cut + 1:*] }"

# Values of a skipped point belong to its network; they are no failure.
is_ok(k) = in_series(k) && !is_doubtful(0)
is_solid(k) = is_ok(k) && strstrt(strcol('flags'), 'oversubscribed') == 0 && strstrt(strcol('flags'), 'simulated') == 0
has_bars(k) = in_series(k) && has_value('lo') && column('hi') > column('lo')
in_series(k) = column('curve') == k

# Shifts marks sideways, by widths of a mark, where intervals of curves would hide each other at one x.
mark_width = 4.0                    # points
width_of(size) = size eq 'page' ? 504.0 : 252.0    # width of the figure, points
letters = int((width_of(size) - 14) / 3.5)         # letters per line of small text
spread_key(k, x) = sprintf(' %d@%.10g=', k, x)
spread_at(at) = at > 0 ? real(spread_marks[at:at + strstrt(spread_marks[at:*], ';') - 2]) : 0
spread_from(at, key) = at > 0 ? at + strlen(key) : 0
spread_of(k, x) = spread_at(spread_from(strstrt(spread_marks, spread_key(k, x)), spread_key(k, x)))
# Draws single launches side by side in their order, within the width of a mark.
nth_of = 0.8
nth_aside(row) = nth_of * ((column('nth') - 0.5) / column('n') - 0.5)

set border 3 linewidth 0.6 linecolor rgb '#404040'

# A cause on the critical path, column path_PART, has the name of the part.
bare(part) = part[1:5] eq 'path_' ? part[6:*] : part
