# Peak memory of the largest rank over ranks: median of launches and its interval.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

eval fit_y

load plots.'/draw.gp'
