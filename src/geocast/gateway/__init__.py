"""The service over HTTP: publish, subscribe, be notified; accounts and operation."""

from geocast.gateway.app import create_app
from geocast.gateway.server import run_gateway

__all__ = ["create_app", "run_gateway"]
