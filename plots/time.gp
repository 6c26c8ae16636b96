# Step time over ranks: median of launches and its interval, the base's time scaled ideally.
load plots.'/style.gp'

y(k) = column('step_ms_median')
y_lo(k) = column('step_ms_lo')
y_hi(k) = column('step_ms_hi')
interval = 'step_ms_lo'
missing_at = 0.6
values_n = measured_n
nothing = 'no point was measured'

# Strong scaling shares one problem among the cores; weak scaling gives each rank its own.
reference(k, x) = scaling eq 'strong' \
    ? value(sprintf('ideal%d_ms', k)) / (value(sprintf('ideal%d_slope', k)) * x) \
    : value(sprintf('ideal%d_ms', k))
reference_n = scaling eq 'none' ? 0 : ideal_n
reference_name = 'ideal, from the base'

y_title = 'time per step (ms)'
if (scaling eq 'strong' && log_ranks) {
    eval log_y
} else {
    eval linear_y
}

load plots.'/draw.gp'
