# One bar per point: a quantity and its interval.
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'panels/bars.gp'

bar_if(condition) = condition && has_value('value') ? row_y('curve') : NaN
is_whole(row) = strcol('status') eq 'ok' && strstrt(strcol('flags'), 'oversubscribed') == 0

# A bar has no length on a logarithmic axis, so a dot marks its end. Without a value above 0, the axis stays linear.
# Axes of shares run from 0 to 100 %.
dots = percent_most != 100 && highest > 0 && (y_scale eq 'log' || (y_scale eq 'auto' && is_wide))
left_edge = 0
if (dots) {
    eval log_ticks('x')
    x_title = x_title.log_note
    left_edge = 0.6 * (lowest > 0 && lowest < least ? lowest : least)
    set xrange [left_edge : 1.6 * highest]
    set offsets 0, 0, 0, 0
}

# Nor has a bar on an axis of shares that does not begin at 0.
if (percent_most == 100) {
    eval percent_axis('x', lowest)
    x_title = x_title.cut_title(lowest)
    left_edge = percent_from(lowest)
    dots = left_edge > 0
    broken = dots ? 'x' : ''
}
# Places single launches across the bar, in their order.
launch_y(row) = strlen(strcol('curve')) > 0 \
    ? row_y('curve') + 1.4 * bar * (0.5 - (column('nth') - 0.5) / column('n')) : NaN
ring_shape = dots ? 6 : 4
dot_if(condition) = dots ? bar_if(condition) : NaN

load plots.'/draw.gp'
