# Colours and shapes of all figures: Okabe and Ito's palette, told apart with any kind of colour vision,
# and by shape in grey print.
colours = '#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9'
solid   = '7 5 9 13 11 15'
hollow  = '6 4 8 12 10 14'
pick(list, k) = word(list, (k - 1) % words(list) + 1)
grey = '#707070'
formats = 'svg png'.(strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0 ? ' pdf' : '')
