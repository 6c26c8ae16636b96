# One quantity as a bar a point, with its interval.
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'bars_panel.gp'
ring_shape = 4

bar_if(condition) = condition && has_value('value') ? row_y('curve') : NaN
is_whole(row) = strcol('status') eq 'ok' && strstrt(strcol('flags'), 'oversubscribed') == 0

# On a logarithmic axis a bar has no length: a dot stands at its end.
dots = is_wide
if (dots) {
    eval log_ticks('x')
    set xrange [0.6 * least : 1.6 * most]
    set offsets 0, 0, 0, 0
}
left_edge = dots ? 0.6 * least : 0

# Shares end at 100 %. Where all of them are close to it, a bar from 0 would hide how they differ: the
# axis is cut, which its title says, and dots stand for the bars.
if (percent_most == 100) {
    set xrange [0:100]
    set offsets 0, 0, 0, 0
    if (lowest > 80) {
        dots = 1
        left_edge = floor(lowest - 0.2 * (100 - lowest))
        set xrange [left_edge : 100]
        x_title = x_title.sprintf(', axis from %d', left_edge)
    }
}
dot_if(condition) = dots ? bar_if(condition) : NaN

load plots.'/draw.gp'
