# Test accuracy over ranks: median of seeds and its interval.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

eval close_y

load plots.'/draw.gp'
