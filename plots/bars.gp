# One quantity as a bar a point, with its interval.
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'bars_panel.gp'

bar_if(condition) = condition && has_value('value') ? row_y('curve') : NaN
is_whole(row) = strcol('status') eq 'ok' && strstrt(strcol('flags'), 'oversubscribed') == 0

# On a logarithmic axis a bar has no length: a dot stands at its end. Shares are told from 0 to 100 %.
dots = percent_most != 100 && (y_scale eq 'log' || (y_scale eq 'auto' && is_wide))
left_edge = 0
if (dots) {
    eval log_ticks('x')
    x_title = x_title.log_note
    left_edge = 0.6 * (lowest > 0 && lowest < least ? lowest : least)
    set xrange [left_edge : 1.6 * highest]
    set offsets 0, 0, 0, 0
}

# Where the axis of shares does not begin at 0, a bar has no length either.
if (percent_most == 100) {
    eval percent_axis('x', lowest)
    x_title = x_title.cut_title(lowest)
    left_edge = percent_from(lowest)
    dots = left_edge > 0
    broken = dots ? 'x' : ''
}
# Single launches stand across the bar, in their order.
launch_y(row) = strlen(strcol('curve')) > 0 \
    ? row_y('curve') + 1.4 * bar * (0.5 - (column('nth') - 0.5) / column('n')) : NaN
ring_shape = dots ? 6 : 4
dot_if(condition) = dots ? bar_if(condition) : NaN

load plots.'/draw.gp'
