"""Workloads, experiments, peers and reports: how fast Geocast is, beside what else there is."""
