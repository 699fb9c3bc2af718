"""The command line."""

from geocast.cli.app import main

__all__ = ["main"]
