# Bytes received, by packet rounded down to a multiple of pkt, in kbit/s; see delay.awk.
{
    split($9, source, "."); split($10, sink, ".")
    if (source[1] != src || sink[1] != dst || $6 < pkt) next
    if ($1 == "+" && $3 == src && !begun++) first = $2
    if ($1 == "r" && $4 == dst) { bytes += $6 - $6 % pkt; last = $2 }
}
END { printf "%.4f\n", bytes * 8 / 1000 / (last - first) }
