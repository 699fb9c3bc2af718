"""The commands that run the service: `up`, and its processes one by one."""

from geocast.cli.service.commands import deliver, gateway, run, up

__all__ = ["deliver", "gateway", "run", "up"]
