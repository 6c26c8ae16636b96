# Memory of a rank, three bars per point: by DeepSpeed's formulas (owned memory alone), forecast (with memory in transit)
# and measured.
shown = 'measured_mib'
load plots.'/style.gp'
load plots.'/by_point.gp'
panel = 'panels/memory.gp'
plot_height = 27.0 * (rows_n > 0 ? rows_n : 1) + 6
bar = 0.095
known_columns = 'params grads state'
called = '"parameters" "gradients" "optimizer state"'
x_title = ''
do for [name in columns] {
    do for [k = 1:words(known_columns)] {
        x_title = x_title.(word(known_columns, k) eq name ? (x_title eq '' ? '' : ', ').word(called, k) : '')
    }
}
x_title = x_title.' in memory (MiB)'

parts = 'formula forecast measured'
parts_n = words(parts)
part_colours = '#999999 #56B4E9 #0072B2'
part_mib(i) = word(parts, i).'_mib'
part_of(i) = column(part_mib(i))
part_row(i) = has_value(part_mib(i)) ? row_y('row') + 2.1 * bar * (2 - i) : NaN
error_of(row) = has_value('error_pct') ? sprintf(', %+.1f %%', column('error_pct')) : ''

load plots.'/draw.gp'
