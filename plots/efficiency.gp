# Parallel efficiency over ranks: speed-up over cores, both relative to the base.
load plots.'/style.gp'

y() = 100 * column('efficiency')
y_lo() = y() * column('speedup_lo') / column('speedup')
y_hi() = y() * column('speedup_hi') / column('speedup')
values_n = compared_n

reference(k, x) = 100
reference_n = 1
reference_name = 'ideal'

set ylabel 'parallel efficiency (%)'
set yrange [0:110<*]

load plots.'/draw.gp'
