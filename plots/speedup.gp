# Speed-up in images per second over ranks, with the ideal line through the base.
load plots.'/style.gp'

y(k) = column('speedup')
y_lo(k) = column('speedup_lo')
y_hi(k) = column('speedup_hi')
interval = 'speedup_lo'
missing_at = 0.03
values_n = compared_n
nothing = measured_n > 0 ? 'the base was not measured' : 'no point was measured'

reference(k, x) = value(sprintf('ideal%d_slope', k)) * x
reference_n = ideal_n
reference_name = 'ideal, from the base'

y_title = scaling eq 'weak' ? 'scaled speed-up over the base' : 'speed-up over the base'
if (log_ranks) {
    eval log_y
} else {
    eval linear_y
}

load plots.'/draw.gp'
