# Figures with one curve per series: reads its values from series_<figure>.csv and places them. The file of a kind first
# sets:
#   x_column                     column of x
#   is_joined(row)               whether a line goes through the value of this row
series_n = int(drawn_n)
array values_of[series_n + 1]       # rows with a value
array is_ours[series_n + 1]          # 1: measured here
array joins[series_n + 1]           # 1: a line joins some of its marks
array first_x[series_n + 1]
do for [k = 1:series_n] {
    values_of[k] = is_ours[k] = joins[k] = 0
}
join(k, x) = (joins[k] = joins[k] || (first_x[k] == first_x[k] && first_x[k] != x), \
    first_x[k] = first_x[k] == first_x[k] ? first_x[k] : x, 0)
note_curve(k, name) = (is_ours[k] = is_ours[k] || is_beside(0), values_of[k] = values_of[k] + has_value(name), 0)
note_line(k, name) = is_joined(0) && has_number(is_ours[k] ? name : beside(name, 'published')) ? join(k, column(x_column)) : 0
do for [name in shown] {
    do for [k = 1:series_n] {
        first_x[k] = NaN
    }
    stats data using (is_drawn(0) ? note_curve(int(column(1)), name) : 0) nooutput
    stats data using (is_drawn(0) ? note_line(int(column(1)), name) : 0) nooutput
}
legend_n = series_n
series_name(k) = value(sprintf('series%d_name', k))
is_published(k) = values_of[k] == 0
series_dash(k) = dash(k, strstrt(' '.bounds.' ', sprintf(' %d ', k)) > 0)
legend_mark(k) = is_published(k) ? published_shape : shape(solid, k)
legend_colour(k) = colour(k)
legend_dash(k) = series_dash(k)
legend_line(k) = joins[k]

# Values of x in ascending order.
x_n = 0
if (drawn_n > 0) {
    set format '%.10g'
    set table $x
    plot [*:*][*:*] data using (column(x_column)):(column(x_column)) smooth unique
    unset table
    set format '% h'
    array x_values[|$x|]
    do for [i = 1:|$x|] {
        x_line = $x[i]
        if (words(x_line) == 3 && x_line[1:1] ne '#') {
            x_n = x_n + 1
            x_values[x_n] = real(word(x_line, 1))
        }
    }
}
x_min = x_n > 0 ? x_values[1] : 1
x_max = x_n > 0 ? x_values[x_n] : 1
# Limits the sideways shift of marks and launches to `most` of the room around x, as a share of the axis.
room_within(most) = mark_width / (width_of(size) - left - right) < most ? mark_width / (width_of(size) - left - right) : most
