# Time of a whole accuracy run over ranks: median of accuracy runs and its interval.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

eval fit_y

eval said_y
load plots.'/draw.gp'
