# Hollow bars are less reliable; a cross marks a point that is not ok.
plot data using (column('value')):(dots ? NaN : bar_if(is_whole(0))):(0):(column('value')): \
        (row_y('curve') - bar):(row_y('curve') + bar) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb colour(1), \
    data using (column('value')):(dots ? NaN : bar_if(!is_whole(0))):(0):(column('value')): \
        (row_y('curve') - bar):(row_y('curve') + bar) with boxxyerror \
        fillstyle empty border rgb colour(1) linecolor rgb colour(1) linewidth 1, \
    for [k = 1:dots_n > 0] dots_data using (column('value')):(launch_y(0)) with points \
        linecolor rgb faint(dots ? colour(1) : '#000000') pointtype 7 pointsize 0.5 * scale linewidth 0.1, \
    data using (column('value')):(dot_if(is_whole(0))) with points \
        linecolor rgb colour(1) pointtype 7 pointsize 1.3 * scale, \
    data using (column('value')):(dot_if(!is_whole(0))) with points \
        linecolor rgb colour(1) pointtype 6 pointsize 1.3 * scale linewidth 1.5, \
    data using (column('lo')):(has_value('lo') ? row_y('curve') : NaN): \
        (column('hi') - column('lo')):(0) with vectors \
        heads size graph whisker_points / width, 90 fixed nofilled linecolor rgb whisker_colour linewidth 0.7, \
    data using (column('value')):(bar_if(strcol('status') ne 'ok')) with points \
        linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5, \
    data using (published_x(0)):(row_y('curve')) with points \
        linecolor rgb 'white' pointtype published_shape + 1 pointsize 1.5 * scale, \
    data using (published_x(0)):(row_y('curve')) with points \
        linecolor rgb mark_colour pointtype published_shape pointsize 1.5 * scale, \
    data using (left_edge):(row_y('curve') + 2.4 * bar):(name_of('value')) with labels left noenhanced \
        font small textcolor rgb '#303030'
