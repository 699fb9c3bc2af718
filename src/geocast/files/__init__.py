"""Features in and out of files, matches and rejects out.

GeoParquet, GeoJSON FeatureCollections and GeoJSON sequences, told apart by their suffix and
read in pieces of bounded size, so that a file may be larger than memory.
"""

from geocast.files.chunk import SUBSCRIPTIONS, Chunk
from geocast.files.duplicates import duplicate_rows, reject_duplicates
from geocast.files.features import write_features
from geocast.files.formats import Format, check_output, format_of, input_size, stamp
from geocast.files.read import BATCH_ROWS, read, read_packed, read_texts, row_groups, unpack
from geocast.files.recurring import RecurringGeometries
from geocast.files.write import pairs_of, write_matches, write_rejects

__all__ = [
    "BATCH_ROWS",
    "SUBSCRIPTIONS",
    "Chunk",
    "Format",
    "RecurringGeometries",
    "check_output",
    "duplicate_rows",
    "format_of",
    "input_size",
    "pairs_of",
    "read",
    "read_packed",
    "read_texts",
    "reject_duplicates",
    "row_groups",
    "stamp",
    "unpack",
    "write_features",
    "write_matches",
    "write_rejects",
]
