"""Runs of real SCTP over impaired links on one machine: scenarios, kernels, run folders."""
