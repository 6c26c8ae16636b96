# Parallel efficiency over ranks: speed-up over cores, both relative to the base.
load plots.'/style.gp'

y(k) = 100 * column('efficiency')
y_lo(k) = y(k) * column('speedup_lo') / column('speedup')
y_hi(k) = y(k) * column('speedup_hi') / column('speedup')
interval = 'speedup_lo'
missing_at = 0.03
values_n = compared_n
nothing = measured_n > 0 ? 'the base was not measured' : 'no point was measured'

reference(k, x) = 100
reference_n = 1
reference_name = 'ideal'

y_title = 'parallel efficiency (%)'
set yrange [0:110<*] noextend

load plots.'/draw.gp'
