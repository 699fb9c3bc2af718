"""`python -m geocast`: the command line, for where the command is not on the path."""

from geocast.cli import main

main()
