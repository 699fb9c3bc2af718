"""What all reports are made of: one style, tables, and pictures inside the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path

__all__ = ["document", "picture", "table"]

_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #24303c; margin: 2rem auto; max-width: 72rem;
       padding: 0 1rem; }}
h1 {{ font-size: 1.7rem; margin-bottom: 0; }}
h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
table {{ border-collapse: collapse; width: 100%; font-size: 0.9rem; }}
th, td {{ text-align: left; padding: 0.3rem 0.7rem; border-bottom: 1px solid #e3e8ed;
         vertical-align: top; font-variant-numeric: tabular-nums; }}
th {{ border-bottom: 2px solid #24303c; }}
.pass {{ color: #0b6e4f; font-weight: 600; }}
.fail {{ color: #c0392b; font-weight: 600; }}
.open {{ color: #6b7f94; font-weight: 600; }}
.rule {{ color: #6b7f94; }}
.figures {{ display: grid; gap: 1rem;
            grid-template-columns: repeat(auto-fill, minmax(30rem, 1fr)); }}
.wide {{ overflow-x: auto; }}
img {{ max-width: 100%; height: auto; }}
code {{ background: #f2f5f7; padding: 0.15rem 0.4rem; border-radius: 4px; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def document(title: str, body: str) -> str:
    """Return a page that needs nothing beside itself; the body is HTML."""
    return _DOCUMENT.format(title=escape(title), body=body)


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table, in a box that scrolls where it is too wide; cells are HTML."""
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    inner = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<div class="wide">{inner}</div>'


def picture(plot: Path) -> str:
    """Return an SVG plot as a picture inside the page."""
    data = b64encode(plot.read_bytes()).decode("ascii")
    return f'<img alt="{plot.stem}" src="data:image/svg+xml;base64,{data}">'
