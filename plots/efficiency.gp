# Parallel efficiency over ranks: speed-up / cores, both relative to the baseline.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

reference(k, x) = 100
reference_n = 1
reference_name = 'ideal'

set yrange [0:110<*] noextend

eval said_y
load plots.'/draw.gp'
