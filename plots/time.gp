# Step time over ranks: median of launches, its interval, and the baseline's time scaled ideally.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

# Strong scaling divides one problem among the cores; weak scaling gives each rank the same work.
reference(k, x) = real(word(ideal_times, k)) / (scaling eq 'strong' ? word(ideal_slopes, k) * x : 1)
reference_n = scaling eq 'none' ? 0 : ideal_n
reference_name = 'ideal, from the base'

if (scaling eq 'strong' && log_ranks) {
    eval log_y
} else {
    eval fit_y
}

eval said_y
load plots.'/draw.gp'
