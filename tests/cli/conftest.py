from __future__ import annotations

from tests.pipeline.conftest import spark

__all__ = ["spark"]
