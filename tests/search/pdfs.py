"""PDF files for tests, written by hand, so that nothing but the reader under test knows the format."""

import zlib
from typing import Final

_FONT: Final = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(*pages: str, title: str = "", date: str = "") -> bytes:
    """Return a PDF whose pages hold these texts, line by line."""
    return pdf_of([_text(page) for page in pages], title, date)


def bomb(size: int) -> bytes:
    """Return a PDF of one page whose compressed content is that many bytes of one operator after the other."""
    return pdf_of([b"BT /F1 12 Tf " + b"(a) Tj " * (size // 7) + b"ET"])


def pdf_of(contents: list[bytes], title: str = "", date: str = "") -> bytes:
    """Return a PDF whose pages have these content streams, compressed."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        _FONT,
    ]
    for number, content in enumerate(contents):
        packed = zlib.compress(content, 9)
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R"
        objects += [
            f"{page} /Resources << /Font << /F1 3 0 R >> >> >>".encode(),
            f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream",
        ]
    objects.append(f"<< /Title ({title}) {f'/ModDate (D:{date})' if date else ''} >>".encode())
    return _whole(objects)


def _text(page: str) -> bytes:
    lines = "".join(f"({line}) Tj 0 -14 Td " for line in page.split("\n"))
    return f"BT /F1 12 Tf 72 720 Td {lines}ET".encode()


def _whole(objects: list[bytes]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"<< /Size %d /Root 1 0 R /Info %d 0 R >>" % (size, size - 1)
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (trailer, len(out))
    )
