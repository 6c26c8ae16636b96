# Timeline of one step: one lane per rank, points one below the other. Messages in transit are below the rank's lane.
shown = ''
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'panels/timeline.gp'

is_horizontal = 0           # although names of ranks are on the left
x_title = 'time since the step began (ms)'
left = 40.0
lane_height = 20.0          # points
name_room = 0.75            # room above the lanes of a point, in lanes
lanes_n = 1
latest = 1
if (nothing eq '') {
    stats [*:*][*:*] data using (column('place')):(column('end_ms')) name 'LANES' nooutput
    lanes_n = LANES_max_x
    latest = LANES_max_y
    stats [*:*][*:*] data using (has_value('place') ? column('row') : NaN) name 'POINTS' nooutput
    rows_n = POINTS_max
}
depth = lanes_n + name_room * rows_n + 0.3
plot_height = lane_height * depth
lane_y(i) = -column('place') - name_room * column('row') + 0.5

# Draws spans inside other spans after these. Phases have the colours of breakdown.gp.
parts = 'load forward backward comm wait bubble pack optimizer inject flight'
parts_n = words(parts)
part_colours = '#999999 #56B4E9 #0072B2 #D55E00 #E69F00 #DDDDDD #F0E442 #009E73 #CC79A7 #8A3F6C'
is_part(k) = has_value('place') && strcol('phase') eq word(parts, k)
part_of(k) = is_part(k) ? column('end_ms') - column('begin_ms') : NaN
from(i) = column('begin_ms') > 0 ? column('begin_ms') : 0
flight_y(i) = lane_y(0) - 0.30 - 0.09 * (column('lane') < 4 ? column('lane') : 4)
part_y(k) = word(parts, k) eq 'flight' ? flight_y(0) : lane_y(0)
part_half(k) = word(parts, k) eq 'flight' ? 0.035 : 0.30
most = latest / 4           # so that the legend names visible spans alone

# Names of less reliable points say so.
is_shown(row) = strcol('phase') eq 'step' && has_value('place')
name_of(row) = strcol('label').(strcol('status') eq 'ok' ? '' : ': '.strcol('status')) \
    .(strstrt(strcol('flags'), 'oversubscribed') > 0 ? ', oversubscribed' : '')

set format x '%g'
set xrange [0:latest]
set yrange [-depth : 0]
set offsets 0, 0, 0, 0

load plots.'/draw.gp'
