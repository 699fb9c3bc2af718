"""The matching core: an Arrow batch of publications in, the subscriptions they concern out.

Its kernels are compiled once and kept in a cache that all processes of a user share. The cache is
named by the kernels' source, because numba itself does not notice when a kernel changes that
another one calls.
"""

from geocast.match.kernels import use_shared_cache

use_shared_cache()
