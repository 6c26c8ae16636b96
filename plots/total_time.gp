# Time of a whole accuracy run over ranks: median of accuracy runs and its interval.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

missing_above = 1
eval fit_y

eval said_y
load plots.'/draw.gp'
