# One bar per point: communication that the step waited for, and communication hidden behind computation. A tick marks the
# time of the same calls alone.
shown = 'exposed_ms'
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'panels/overlap.gp'
x_title = 'communication per step (ms)'

tick_name = 'the same calls alone, without computing'
parts = 'exposed wait hidden'
parts_n = words(parts)
part_colours = '#D55E00 #E69F00 #56B4E9'
bar_row(name) = has_value(name) ? row_y('row') : NaN

part_of(i) = i < 3 ? column(word(parts, i).'_ms') : hidden_end(0) - wait_end(0)

# If communication cost more than it takes alone, nothing was hidden; the whisker then points back.
wait_end(row) = column('exposed_ms') + column('wait_ms')
hidden_end(row) = wait_end(row) + (column('hidden_ms') > 0 ? column('hidden_ms') : 0)
whisker_from(row) = wait_end(row) + column('hidden_lo_ms')

load plots.'/draw.gp'
