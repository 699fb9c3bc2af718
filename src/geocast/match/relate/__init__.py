"""Relating publications to the geometries that subscriptions stand on."""
