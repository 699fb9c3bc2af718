"""Places that the demonstration's subscribers care about and that no boundary file has."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely

__all__ = ["CITIES", "CITY_RADIUS_KM", "SAN_ANDREAS", "SOLOMON_ISLANDS", "TONGA", "circle", "ring"]

KM_PER_DEGREE = 111.195
CITY_RADIUS_KM = 300.0

CITIES = {
    "Tokyo": (139.69, 35.68),
    "Osaka": (135.50, 34.69),
    "Sapporo": (141.35, 43.06),
    "Taipei": (121.56, 25.03),
    "Manila": (120.98, 14.60),
    "Davao": (125.61, 7.07),
    "Manado": (124.84, 1.47),
    "Ambon": (128.19, -3.66),
    "Jakarta": (106.85, -6.21),
    "Padang": (100.35, -0.95),
    "Port Moresby": (147.18, -9.44),
    "Honiara": (159.95, -9.43),
    "Port Vila": (168.32, -17.74),
    "Wellington": (174.78, -41.29),
    "Kathmandu": (85.32, 27.72),
    "Kabul": (69.17, 34.53),
    "Tehran": (51.39, 35.69),
    "Istanbul": (28.98, 41.01),
    "Athens": (23.73, 37.98),
    "Rome": (12.50, 41.90),
    "Reykjavik": (-21.94, 64.15),
    "Anchorage": (-149.90, 61.22),
    "San Francisco": (-122.42, 37.77),
    "Los Angeles": (-118.24, 34.05),
    "Mexico City": (-99.13, 19.43),
    "Guatemala City": (-90.51, 14.63),
    "Managua": (-86.25, 12.11),
    "San Juan": (-66.11, 18.47),
    "Quito": (-78.47, -0.18),
    "Lima": (-77.04, -12.05),
    "Antofagasta": (-70.40, -23.65),
    "Santiago": (-70.67, -33.45),
}

SAN_ANDREAS = shapely.LineString(
    [(-115.7, 33.3), (-117.4, 34.3), (-119.0, 34.9), (-120.5, 36.0), (-122.4, 37.7), (-124.2, 40.3)]
)
SOLOMON_ISLANDS = shapely.box(154.0, -13.0, 168.0, -6.0)
TONGA = shapely.box(-180.0, -26.0, -172.0, -14.0)


def circle(center: tuple[float, float], km: float) -> Any:
    """Return a circle on the ground as a polygon of 72 corners, small enough to be planar."""
    angle = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    lon, lat = center
    radius = km / KM_PER_DEGREE
    x = lon + radius * np.cos(angle) / np.cos(np.radians(lat))
    y = lat + radius * np.sin(angle)
    return shapely.Polygon(np.round(np.column_stack([x, y]), 5))


def ring(center: tuple[float, float], inner_km: float, outer_km: float) -> Any:
    """Return a circle with a circular hole."""
    hole = circle(center, inner_km).exterior
    return shapely.Polygon(circle(center, outer_km).exterior, [hole])
