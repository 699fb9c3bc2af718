"""`geocast demo`: a month of earthquakes, and everybody who wants to hear of some of them."""

from geocast.cli.demo.command import demo

__all__ = ["demo"]
