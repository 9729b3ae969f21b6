# Mean difference between the delays of one packet and the next, in ms; see delay.awk.
{
    split($9, source, "."); split($10, sink, ".")
    if (source[1] != src || sink[1] != dst || $6 < pkt) next
    if ($1 == "+" && $3 == src && !($12 in sent)) sent[$12] = $2
    if ($1 == "r" && $4 == dst) { arrived[$12] = $2; if ($12 > last) last = $12 }
}
END {
    for (packet = 0; packet <= last; packet++) {
        if (!(packet in arrived)) continue
        delay = arrived[packet] - sent[packet]
        if (count++) sum += delay > before ? delay - before : before - delay
        before = delay
    }
    printf "%.4f\n", 1000 * sum / (count - 1)
}
