"""Which way a metric is better: a choice for every number of the result contract.

Counts have no direction: they grow with the time and the volume of a run. What they mean is in
ratios, rates and times, which have one. Nor have settings, which are neither good nor bad, and what
the application or the network gives.
"""

from __future__ import annotations

from typing import Literal

Direction = Literal["lower", "higher", "none"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOWER = _words(
    """
    handover_delay_s data_interruption_s delivery_gap_s link_failure_recovery_s failure_detection_s
    recovery_completion_s link_recognition_s timeouts_before_move
    delay_s duration_s inside_s add_to_set_s set_to_ho_s ho_to_del_s add_to_del_s
    association_setup_s establishment_s joined_after_s
    outage_s sack_delay_s wait_s wait_max_s zero_window_s zero_window_max_s
    worse_s slower_s excess_rtt_s excess_rtt_mean_ns
    loss_ratio loss_burst_mean_packets reordered_ratio dropped_ratio
    retransmission_ratio retransmitted_bytes_ratio reinjection_ratio
    rtt_min_ns rtt_mean_ns rtt_sd_ns rtt_p50_ns rtt_p95_ns rtt_p99_ns rtt_max_ns
    srtt_ns rttvar_ns rto_model_ns rto_model_max_ns
    timestamp_rtt_min_ns timestamp_rtt_mean_ns timestamp_rtt_max_ns
    syn_rtt_ns syn_ack_rtt_ns handshake_rtt_ns
    one_way_delay_min_ns one_way_delay_mean_ns one_way_delay_sd_ns one_way_delay_p50_ns
    one_way_delay_p95_ns one_way_delay_p99_ns one_way_delay_max_ns
    jitter_ns jitter_w_ns pdv_p50_ns pdv_p95_ns pdv_p99_ns queueing_mean_ns queueing_ratio
    """
)

HIGHER = _words(
    """
    throughput_bps throughput_whole_bps throughput_w_bps goodput_bps acked_chunks_hz
    throughput_inside_bps throughput_outside_bps throughput_before_bps throughput_after_bps
    goodput_inside_bps goodput_outside_bps goodput_before_bps goodput_after_bps
    """
)

NEITHER = _words(
    """
    packets wire_bytes payload_bytes segments data_chunks new_chunks new_bytes acked_chunks
    acked_bytes late_chunks mapped_bytes reinjected_bytes unseen_bytes sacks sacks_with_gaps
    retransmitted_chunks retransmitted_t3_chunks retransmitted_fast_chunks
    retransmitted_after_failover_chunks retransmitted_unknown_chunks retransmitted_spurious_chunks
    retransmitted_once_chunks retransmitted_twice_chunks retransmitted_more_chunks
    retransmitted_packets retransmitted_bytes retransmitted_fast_packets
    retransmitted_timeout_packets retransmitted_probe_packets retransmitted_unknown_packets
    retransmitted_spurious_packets out_of_order_packets out_of_order_bytes
    sent_packets arrived_packets lost_packets loss_bursts reordered_packets duplicated_packets
    outside_packets unsent_packets dropped_packets unfinished_packets numbered_packets
    repeated_packets keep_alives window_probes duplicate_acks zero_windows waited_messages
    single_stream_waited_messages worse_chunks worse_bytes slower_bytes lone_packets
    sent acknowledged unanswered rtt_samples timestamp_rtt_samples interval_samples
    single_stream_wait_s single_stream_wait_max_s saved_by_streams_s
    packets_per_sack every_second_ratio at_once_ratio share_ratio
    active_s judged_s outside_s setup_to_data_s gap_mean_ns gap_sd_ns
    flight_max_bytes a_rwnd_min_bytes mss_bytes window_scale window_min_bytes window_max_bytes
    clock_hz interval_median_s interval_low_s interval_high_s interval_in_bounds_ratio
    rto_s rto_min_s rto_max_s path_max_retrans heartbeat_period_s hb_interval_s
    predicted_failover_s predicted_failover_bokor_s
    transmission_mean_ns propagation_mean_ns processing_mean_ns rate_bps propagation_ns
    """
)
"""Named one by one, so that a metric that is new is not forgotten: the tests compare."""


def direction_of(metric: str) -> Direction:
    """Return which way it is better."""
    if metric in LOWER:
        return "lower"
    return "higher" if metric in HIGHER else "none"
