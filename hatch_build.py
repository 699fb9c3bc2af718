"""Packages carry the built map page, so that whoever installs one needs no Node."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebClientHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page if it is not there; a source distribution has it already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel or a source distribution is made; `version` is its kind."""
        root = Path(self.root)
        built = root / "src" / "geocast" / "static" / "index.html"
        if version == "editable" or built.is_file():
            return
        try:
            subprocess.run([root / "scripts" / "web.sh", os.fspath(root / ".venv")], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise SystemExit(
                "error: the map page is not built, and cannot be built here. In the source tree, "
                "`make web` builds it, with Node 20.19 or newer, or a Node that it gets by itself."
            ) from error
