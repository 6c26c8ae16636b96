# Figures with one bar per point from top to bottom, row 1 first. Names are above the bars.

is_horizontal = 1
rows_n = drawn_n
is_doubtful(row) = strcol('status') ne 'ok'
x_title = y_title
y_title = ''
plot_height = 19.0 * (rows_n > 0 ? rows_n : 1) + 6
right = 16.0                # room for the last number of the axis, points
mark_colour = 'black'
bar = 0.19                  # half the height of a bar; rows are 1 apart
whisker_points = 2.6        # half the end of an interval; shorter than bars, since names are close above
row_y(column_name) = -column(column_name) - 0.16

published_x(row) = has_value('published') ? column('published') : NaN
why_missing(k) = strcol('status') ne 'ok' ? strcol('status') \
    : withheld ne '' && strstrt(strcol('flags'), withheld) > 0 ? 'none, '.withheld : 'no value'
name_of(value_name) = strcol('label').(has_value(value_name) ? '' : ': '.why_missing(0))

set border 1 linewidth 0.6 linecolor rgb '#404040'
set grid x linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set xtics nomirror out scale 0.5
set format x '%g'
eval big_ticks('x', most)
unset ytics
set yrange [-rows_n - 0.55 : -0.4]
set xrange [0:*]
set offsets 0, graph 0.04, 0, 0
