"""Takes the picture of the page that README shows: `make screenshot`, after `make demo`.

python tests/screenshot.py demo/page.html docs/page.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2

from browser import Page, chromium

MOST = 300_000  # bytes

# A sentence with much to show: one that recalls a record, or else the one with the most evidence, not too early.
CHOOSE = """
    const told = match.lines().filter((each) => match.shown(each).visible && each.at > 100);
    const rank = (each) => (each.mode === "historical" ? 100 : 0) + each.evidence.length + each.at / 10000;
    return (told.length ? told : match.lines()).toSorted((one, other) => rank(other) - rank(one))[0].id;
"""
SEEN = """
    const item = document.querySelector(".line.current"), list = document.getElementById("lines");
    if (!item?.querySelector(".details") || video.seeking) return false;
    if (list.scrollHeight <= list.clientHeight + 1 || getComputedStyle(list).overflowY === "visible") return true;
    const top = item.offsetTop - list.offsetTop - list.scrollTop;
    return list.scrollTop + list.clientHeight >= list.scrollHeight - 2 || top < list.clientHeight / 3;
"""


def shoot(page: Page, source: Path, out: Path, *, line: str, size: tuple[int, int], dark: bool) -> None:
    page.size(*size, dark=dark)
    page.go(source.resolve().as_uri())
    page.until("return video.readyState >= 2 || !player.filmed", 60)
    chosen = line or page.run(CHOOSE)
    page.run("const line = match.byId.get(arguments[0]); visit(line.h, line.at + 0.2, line)", chosen)
    page.until(SEEN, 30)
    page.run("document.activeElement.blur(); scrollTo(0, 0)")
    page.picture(out)


def smaller(path: Path) -> None:
    """Fewer shades where the file would be too large: nobody sees it, and a README loads at once."""
    for bits in (0, 2, 3, 4):
        picture = cv2.imread(str(path))
        if bits:
            picture = (picture >> bits << bits) + (1 << (bits - 1))
        done = cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 9])[1].tobytes()
        if len(done) <= MOST:
            break
    path.write_bytes(done)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--line", default="", help="the ID of the sentence to open")
    parser.add_argument("--size", default="1280x860")
    parser.add_argument("--dark", action="store_true")
    asked = parser.parse_args()
    width, height = map(int, asked.size.split("x"))
    with chromium() as page:
        shoot(page, asked.page, asked.out, line=asked.line, size=(width, height), dark=asked.dark)
    smaller(asked.out)
    print(f"{asked.out}: {asked.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
