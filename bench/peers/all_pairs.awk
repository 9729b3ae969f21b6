# All that delay.awk, jitter.awk and throughput.awk compute, of every pair of nodes, in one go.
{
    if ($6 < pkt) next
    split($9, source, "."); split($10, sink, ".")
    pair = source[1] "-" sink[1]
    if ($1 == "+" && $3 == source[1] && !($12 in sent)) {
        sent[$12] = $2
        if (!(pair in first)) first[pair] = $2
    }
    if ($1 == "r" && $4 == sink[1]) {
        arrived[$12] = $2; of[$12] = pair; last[pair] = $2
        bytes[pair] += $6 - $6 % pkt
        if ($12 > highest) highest = $12
    }
}
END {
    for (packet = 0; packet <= highest; packet++) {
        if (!(packet in arrived)) continue
        pair = of[packet]
        delay = arrived[packet] - sent[packet]
        sum[pair] += delay
        if (count[pair]++) steps[pair] += delay > before[pair] ? delay - before[pair] : before[pair] - delay
        before[pair] = delay
    }
    for (pair in count)
        printf "%s %.3f %.4f %.4f\n", pair, 1000 * sum[pair] / count[pair], \
            1000 * steps[pair] / (count[pair] - 1), bytes[pair] * 8 / 1000 / (last[pair] - first[pair])
}
