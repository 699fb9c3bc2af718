"""Independent brute force: the judge of the matching core and of the language.

Nothing here imports the product or the CQL2 package that it uses. Spatial relations are
shapely's plain predicates, pair by pair; CQL2 is parsed by a small recursive-descent parser
written from the grammar of OGC 21-065r2 and evaluated one feature at a time. Slow and plain
on purpose.
"""

from tests.oracle.evaluator import evaluate
from tests.oracle.matching import match
from tests.oracle.spatial import CONVERSE, PREDICATES, holds, pairs_by_predicate, relation_names
from tests.oracle.text import TextError, parse_text

__all__ = [
    "CONVERSE",
    "PREDICATES",
    "TextError",
    "evaluate",
    "holds",
    "match",
    "pairs_by_predicate",
    "parse_text",
    "relation_names",
]
