# Mean delay, in ms, of the packets from node src to node dst that have at least pkt bytes.
# awk -v src=2 -v dst=12 -v pkt=1000 -f delay.awk out.tr
{
    split($9, source, "."); split($10, sink, ".")
    if (source[1] != src || sink[1] != dst || $6 < pkt) next
    if ($1 == "+" && $3 == src && !($12 in sent)) sent[$12] = $2
    if ($1 == "r" && $4 == dst) arrived[$12] = $2
}
END {
    for (packet in arrived) { sum += arrived[packet] - sent[packet]; count++ }
    printf "%.3f\n", 1000 * sum / count
}
