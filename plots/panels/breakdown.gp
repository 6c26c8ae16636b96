# A cross marks a point that is not ok, a ring one that is oversubscribed.
plot for [i = 1:parts_n] data using (end_of(i)):(step_row(1)):(end_of(i - 1)):(end_of(i)): \
        (row_y('row') - bar):(row_y('row') + bar) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb word(part_colours, i), \
    data using (column('model_ms')):(has_value('model_ms') ? row_y('row') - 1.3 * bar : NaN): \
        (0):(2.6 * bar) with vectors nohead linecolor rgb 'black' linewidth 1, \
    data using (column('step_ms')):(step_row(strstrt(strcol('flags'), 'oversubscribed') > 0)) \
        with points linecolor rgb grey pointtype 6 pointsize scale linewidth 1.5, \
    data using (column('step_ms')):(step_row(strcol('status') ne 'ok')) with points \
        linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5, \
    data using (published_x(0)):(row_y('row')) with points \
        linecolor rgb 'white' pointtype published_shape + 1 pointsize 1.5 * scale, \
    data using (published_x(0)):(row_y('row')) with points \
        linecolor rgb mark_colour pointtype published_shape pointsize 1.5 * scale, \
    data using (0):(row_y('row') + 2.4 * bar):(name_of('step_ms')) with labels left noenhanced \
        font small textcolor rgb '#303030'
