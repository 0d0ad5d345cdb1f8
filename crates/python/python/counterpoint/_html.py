"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """Makes an HTML table of escaped text."""
    from html import escape

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(row(cells, "td") for cells in rows)
    return f"<table>{title}<thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"
