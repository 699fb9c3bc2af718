"""Matching on Spark: algorithms, and what carries publications to them and matches away."""

from geocast.pipeline.base import Algorithm, Answered, Reader, Writer
from geocast.pipeline.job import Progress, default_tasks, run_job
from geocast.pipeline.pieces import Piece
from geocast.pipeline.registry import algorithm_names, make_algorithm, parse_name
from geocast.pipeline.session import check_master, spark_session
from geocast.pipeline.splits import PublicationFile, Split, open_publications
from geocast.pipeline.subscriptions import Subscriptions, read_subscriptions

__all__ = [
    "Algorithm",
    "Answered",
    "Piece",
    "Progress",
    "PublicationFile",
    "Reader",
    "Split",
    "Subscriptions",
    "Writer",
    "algorithm_names",
    "check_master",
    "default_tasks",
    "make_algorithm",
    "open_publications",
    "parse_name",
    "read_subscriptions",
    "run_job",
    "spark_session",
]
