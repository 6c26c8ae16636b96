# A cross marks a point that is not ok, a ring one that is oversubscribed.
plot for [i = 1:parts_n] data using (part_of(i)):(part_row(i)):(0):(part_of(i)): \
        (part_row(i) - bar):(part_row(i) + bar) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb word(part_colours, i), \
    data using (part_of(3)):(strstrt(strcol('flags'), 'oversubscribed') > 0 ? part_row(3) : NaN) \
        with points linecolor rgb grey pointtype 6 pointsize scale linewidth 1.5, \
    data using (part_of(3)):(strcol('status') ne 'ok' ? part_row(3) : NaN) with points \
        linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5, \
    data using (published_x(0)):(row_y('row')) with points \
        linecolor rgb 'white' pointtype published_shape + 1 pointsize 1.5 * scale, \
    data using (published_x(0)):(row_y('row')) with points \
        linecolor rgb mark_colour pointtype published_shape pointsize 1.5 * scale, \
    data using (0):(row_y('row') + 4.8 * bar):(name_of('measured_mib').error_of(0)) with labels left noenhanced \
        font small textcolor rgb '#303030'
