# Colours, shapes and dashes of all figures. Okabe and Ito's palette is readable with any colour vision. Six curves differ
# by colour, eighteen by colour and dash; shapes differ in grey print. Bounds (ranks that do not communicate) have short
# dashes, results long ones or none.
colours = '#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9'
darks   = '#00395A #7A3500 #00503A #8A3F6C #7A5200 #1F6088'    # of whiskers, which cross their marks
more_colours = ' #8A3F6C #F0E442' # for bars, which have no dashes
more_darks   = ' #4A1F3A #7A7200'
solid   = '7 5 9 13 11'          # the sixth is for published values
hollow  = '6 4 8 12 10'
published_shape = 14
set dashtype 11 (11, 3)
set dashtype 12 (9, 2, 2, 2)
set dashtype 13 (4, 3)
set dashtype 14 (4, 2, 1, 2)
set dashtype 15 (2, 2)
set dashtype 16 (1.5, 3)         # for reference lines
pick(list, k) = word(list, (k - 1) % words(list) + 1)
colour(k) = pick(colours, k)
dark(k) = pick(darks, k)
shape(list, k) = int(pick(list, k))
dash(k, bound) = int(word(bound ? '13 14 15' : '1 11 12', (k - 1) / words(colours) % 3 + 1))
grey = '#707070'
light = '#C4C4C4'                # for elements behind the data
# Makes the colour '#RRGGBB' translucent, for single launches.
faint(c) = '#90'.c[2:7]
if (!exists('formats')) {        # a page shows only the first
    formats = 'svg png'.(strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0 ? ' pdf' : '')
}
