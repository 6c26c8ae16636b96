# Speed-up in images per second over ranks, with the ideal line through the base.
load plots.'/style.gp'

y() = column('speedup')
y_lo() = column('speedup_lo')
y_hi() = column('speedup_hi')
values_n = compared_n

reference(k, x) = value(sprintf('ideal%d_slope', k)) * x
reference_n = ideal_n
reference_name = 'ideal, from the base'

set ylabel scaling eq 'weak' ? 'scaled speed-up over the base' : 'speed-up over the base'
if (log_ranks) {
    set logscale y 2
} else {
    set yrange [0:*]
}

load plots.'/draw.gp'
