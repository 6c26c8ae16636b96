# One quantity as a bar a point, with its interval.
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'bars_panel.gp'

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
dot_if(condition) = dots ? bar_if(condition) : NaN

load plots.'/draw.gp'
