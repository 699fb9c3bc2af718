"""Write the OpenAPI document of the gateway, of which the web client's types are generated."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from geocast.gateway import create_app
from geocast.log import SqliteLog
from geocast.operate import Settings
from geocast.repository import Repository


def main(target: Path) -> None:
    """Write it to a file."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with (
            closing(Repository.open(f"sqlite:///{root / 'repository.sqlite'}")) as repository,
            closing(SqliteLog.open(root / "log")) as log,
        ):
            document = create_app(repository, log, Settings()).openapi()
    target.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
