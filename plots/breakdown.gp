# One bar per point: the parts of a step. Waiting is not communication. The rest is time that no part accounts for,
# imbalance between ranks included.
shown = 'step_ms'
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'panels/breakdown.gp'

parts = columns
parts_n = words(parts)
model_tick = 1
model_in(name) = 'model_ms'
# A part has the same colour in every figure.
known_parts = 'load forward backward pack comm wait optimizer inject other memory bytes starts sums'
known_colours = '#999999 #56B4E9 #0072B2 #F0E442 #D55E00 #E69F00 #009E73 #CC79A7 #DDDDDD #F0E442 #D55E00 #E69F00 #882255'
part_colours = ''
do for [part in parts] {
    do for [k = 1:words(known_parts)] {
        part_colours = part_colours.(word(known_parts, k) eq bare(part) ? ' '.word(known_colours, k) : '')
    }
}
part_ms(i) = column(word(parts, i).'_ms')
part_of(i) = step_row(1) < 0 ? part_ms(i) : NaN
end_of(i) = i < 1 ? 0 : part_ms(i) + end_of(i - 1)
step_row(condition) = condition && has_value('step_ms') ? row_y('row') : NaN

load plots.'/draw.gp'
