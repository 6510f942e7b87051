# validate.gp - modelled against measured bus bandwidth; `rows` and `picture` are set by scripts/validate.sh.
set terminal svg size 760,640 font "DejaVu Sans,12" background "white"
set output picture
set datafile separator "\t"
set logscale xy
set key left top
set grid
set xlabel "measured bus bandwidth, GB/s"
set ylabel "modelled bus bandwidth, GB/s"
set title "Collectives: every measured row against the model (band: within a factor of 1.2)"
array label[6] = ["all_reduce, one server", "all_reduce, several servers", "all_gather, reduce_scatter", \
                  "alltoall, one server", "alltoall, several servers", "SimAI ratios, 2 to 128 servers"]
set xrange [0.01:1000]
set yrange [0.01:1000]
plot x with lines lc rgb "black" title "equal", \
     x * 1.2 with lines lc rgb "grey" dt 2 notitle, x / 1.2 with lines lc rgb "grey" dt 2 notitle, \
     for [g = 0:5] rows using (int($1) == g ? $2 : NaN):3 with points pt 7 ps 0.6 lc g + 1 \
         title label[g + 1] noenhanced
