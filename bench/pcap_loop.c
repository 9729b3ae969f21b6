/* The yardstick: what libpcap itself needs to hand over every packet of a file. */
#include <pcap/pcap.h>
#include <stdio.h>

static void count(u_char *packets, const struct pcap_pkthdr *header, const u_char *bytes)
{
    (void)header;
    (void)bytes;
    ++*(unsigned long *)packets;
}

int main(int argc, char **argv)
{
    char error[PCAP_ERRBUF_SIZE];
    unsigned long packets = 0;
    if (argc != 2) {
        /* Without a file it names the library that was measured. */
        puts(pcap_lib_version());
        return 0;
    }
    pcap_t *capture = pcap_open_offline(argv[1], error);
    if (capture == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    int status = pcap_loop(capture, -1, count, (u_char *)&packets);
    if (status < 0)
        fprintf(stderr, "%s\n", pcap_geterr(capture));
    else
        printf("%lu\n", packets);
    pcap_close(capture);
    return status < 0;
}
