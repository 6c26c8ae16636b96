# Figures over ranks: one curve per series of series_<figure>.csv. bench/figures assigns the variables that style.gp
# lists, and:
#   ideal_slopes, ideal_times    for each baseline, as words: cores per rank relative to it, and its step
#   originK                      for a curve whose baseline is in another curve, as words: that curve; ranks, value and
#                                model of the baseline, then of its own first point; '': none
# A script may define
#   y(k), y_lo(k), y_hi(k)   value and bounds of the current row
#   reference(k, x)          reference lines; there are reference_n

panel = 'panels/over_ranks.gp'
x_column = 'ranks'
is_joined(row) = !is_doubtful(row)
load plots.'/curves.gp'
y(k) = column('value')
y_lo(k) = column('lo')
y_hi(k) = column('hi')
reference(k, x) = NaN
reference_n = 0
x_title = 'ranks (MPI processes)'
ideal_n = words(ideal_slopes)
# Line from the baseline in another curve to a curve without a baseline.
origin_of(k) = value(sprintf('origin%d', k))
legend_line(k) = joins[k] || origin_of(k) ne ''

# The axis is linear up to 8 ranks and logarithmic beyond.
log_ranks = x_scale eq 'auto' ? x_max > 8 : x_scale eq 'log'

# Limits the sideways shift of marks and launches to a quarter of the distance between rank counts.
axis_span = log_ranks ? log(1.5625 * x_max / x_min) : x_max - x_min + 1.0
gap = 1.0
do for [i = 2:x_n] {
    apart = (log_ranks ? log(x_values[i] / x_values[i - 1]) : x_values[i] - x_values[i - 1]) / axis_span
    gap = apart < gap ? apart : gap
}
room = room_within(0.25 * gap)
whisker = 0.009
x_moved(ranks, by) = log_ranks ? ranks * exp(axis_span * by) : ranks + axis_span * by
x_at(ranks, k) = x_moved(ranks, room * spread_of(k, ranks))
x_of(k) = x_at(column('ranks'), k)
x_dot(k) = in_series(k) ? x_moved(column('ranks'), \
    room * (spread_of(int(column('curve')), column('ranks')) + nth_aside(0))) : NaN
# Reference lines are level around a rank count, as far as marks and launches are shifted, so that each of these is on the
# right side of the line.
launches_at = ''
note_launch(ranks) = launches_at = launches_at.(strstrt(launches_at, sprintf(' %d;', ranks)) > 0 ? '' : sprintf(' %d;', ranks))
if (dots_n > 0) {
    stats dots_data using (is_drawn(0) ? (note_launch(column('ranks')), 0) : 0) nooutput
}
spread_most = 0
moved_at(ranks) = series_n > 0 ? (sum [k = 1:series_n] (spread_of(k, ranks) != 0 ? 1 : 0)) : 0
do for [i = 1:x_n] {
    do for [k = 1:series_n] {
        spread_most = higher(abs(spread_of(k, x_values[i])), spread_most)
    }
}
level_at(ranks) = room * ((moved_at(ranks) > 0 ? spread_most + 0.1 : 0) \
    + (strstrt(launches_at, sprintf(' %d;', ranks)) > 0 ? nth_of / 2 : 0))

# Place of the current row on the axis if it belongs to series k and to this sort, else NaN.
lead_dash(what, k) = what eq 'value' ? series_dash(k) : 4
x_ok(k) = is_ok(k) && has_value('value') ? x_of(k) : NaN
x_bars(k) = has_bars(k) ? x_of(k) : NaN
x_solid(k) = is_solid(k) ? x_of(k) : NaN
x_hollow(k) = in_series(k) && !is_solid(k) ? x_of(k) : NaN
x_doubtful(k) = in_series(k) && !is_ok(k) ? x_of(k) : NaN
x_model(k) = in_series(k) && has_value('model') ? x_of(k) : NaN

# Draws a published value that belongs to several series once, in their middle.
told = ''
shared = ''
published_key(row) = sprintf(' %d@%.10g;', column('ranks'), column('published'))
tell(key) = strstrt(told, key) > 0 ? (shared = shared.key, 0) : (told = told.key, 0)
stats data using (is_drawn(0) && has_value('published') ? tell(published_key(0)) : 0) nooutput
is_shared(row) = strstrt(shared, published_key(0)) > 0
x_published(k) = in_series(k) && has_value('published') && !is_shared(0) ? x_of(k) : NaN
x_shared(row) = is_drawn(0) && has_value('published') && is_shared(0) ? column('ranks') : NaN

set grid y linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set ytics nomirror out scale 0.5

# Puts ticks at the measured rank counts that have room, and at the last.
set xtics nomirror out scale 0.5
share_of(points) = points / (width_of(size) - left - right)
place_of(i) = ((log_ranks ? log(x_values[i] / x_min * 1.25) : x_values[i] - x_min + 0.5) / axis_span)
width_at(i) = share_of(4.9 * strlen(sprintf('%d', x_values[i])) + 5.9)
set xtics ()
free = -1
do for [i = 1:x_n] {
    if (i == x_n || (place_of(i) >= free && place_of(i) <= place_of(x_n) - width_at(x_n))) {
        set xtics add (sprintf('%d', x_values[i]) x_values[i])
        free = place_of(i) + width_at(i)
    }
}
if (log_ranks) {
    set logscale x 2
    set xrange [x_min / 1.25 : x_max * 1.25]
} else {
    set xrange [x_min - 0.5 : x_max + 0.5]
}

# Linear axis from 0 to above the points.
linear_y = "y_note = ''; ".big_ticks('y', most).'; set yrange [0:*] noextend; set offsets 0, 0, graph 0.06, 0'

# Logarithmic axis over the points, with ticks at 1, 2 and 5 of each decade.
log_y = 'y_note = log_note; '.log_ticks('y')."set autoscale yfix; set offsets 0, 0, graph 0.06, graph 0.06"

# Linear unless the values are too far apart.
fit_y = is_wide ? log_y : linear_y

# A spec's choice of axes comes before the figure's.
said_y = y_scale eq 'log' ? log_y : y_scale eq 'linear' ? linear_y : ''
