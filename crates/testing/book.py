#!/usr/bin/env python3
"""What mdbook leaves undone for the documentation as a site (book.toml).

    crates/testing/book.py < BOOK         as mdbook's preprocessor: links to files outside docs/ lead to the repository's site
    crates/testing/book.py --check BOOK   fails unless the built book has every page of docs/, and all links in it lead somewhere
"""

import json
import posixpath
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent.parent
REPOSITORY = re.search(r'^git-repository-url = "(.*)"$', (ROOT / "book.toml").read_text(), re.M)[1]
FILES = f"{REPOSITORY}/blob/main/"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def with_links_to_repository(text, folder):
    """The text of a page in a folder of the repository."""

    def replaced(link):
        target = posixpath.normpath(posixpath.join(folder, link[1]))
        is_page = "://" in link[1] or link[1].startswith("#") or target.startswith("docs/")
        return link[0] if is_page else f"]({FILES}{target})"

    return LINK.sub(replaced, text)


def preprocess(items):
    for item in items:
        if chapter := isinstance(item, dict) and item.get("Chapter"):
            if chapter["path"]:
                folder = posixpath.join("docs", posixpath.dirname(chapter["path"]))
                chapter["content"] = with_links_to_repository(chapter["content"], folder)
            preprocess(chapter["sub_items"])


class Page(HTMLParser):
    """The links of a page, and the places in it that a link can lead to."""

    def __init__(self, file):
        super().__init__()
        self.links, self.places = [], {""}
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src"):
                self.links.append(value)
            elif name in ("id", "name"):
                self.places.add(value)


def check(book):
    pages = {file: Page(file) for file in sorted(book.rglob("*.html"))}
    sources = [file.relative_to(ROOT / "docs") for file in (ROOT / "docs").rglob("*.md")]
    wrong = [f"{source} is not in docs/SUMMARY.md" for source in sources if source.name != "SUMMARY.md" and book / source.with_suffix(".html") not in pages]
    for file, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if link.startswith(FILES):
                leads = (ROOT / unquote(link.removeprefix(FILES)).split("#")[0]).exists()
            elif url.scheme or url.netloc:
                leads = True  # elsewhere
            else:
                target = (file.parent / unquote(url.path)).resolve() if url.path else file
                leads = target.exists() and (target not in pages or unquote(url.fragment) in pages[target].places)
            if not leads:
                wrong.append(f"{file.relative_to(book)}: {link} leads nowhere")
    print(*wrong, f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links", sep="\n")
    return 1 if wrong else 0


if sys.argv[1:2] == ["--check"]:
    sys.exit(check(Path(sys.argv[2]).resolve()))
if sys.argv[1:2] != ["supports"]:  # mdbook asks whether a renderer is supported
    _, book = json.load(sys.stdin)
    preprocess(book["items"])
    json.dump(book, sys.stdout)
