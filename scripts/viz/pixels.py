"""The pixels of screenshots, read with the standard library only."""
import struct
import zlib


def pixels(png):
    """Rows of (r, g, b) triples, as bytes, of an 8-bit RGB or RGBA PNG."""
    at, data, width, height, channels = 8, b"", 0, 0, 0
    while at < len(png):
        size, kind = struct.unpack("!I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack("!IIBB", png[at + 8:at + 18])
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += size + 12
    raw, stride, rows, above = zlib.decompress(data), width * channels, [], bytearray(width * channels)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = line[x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            if kind == 1:
                line[x] = (line[x] + left) & 255
            elif kind == 2:
                line[x] = (line[x] + above[x]) & 255
            elif kind == 3:
                line[x] = (line[x] + (left + above[x]) // 2) & 255
            elif kind == 4:
                p = left + above[x] - corner
                pa, pb, pc = abs(p - left), abs(p - above[x]), abs(p - corner)
                line[x] = (line[x] + (left if pa <= pb and pa <= pc else above[x] if pb <= pc else corner)) & 255
        rows.append(line)
        above = line
    return [[tuple(row[x * channels:x * channels + 3]) for x in range(width)] for row in rows]


def colours_shown(page):
    return {pixel for row in pixels(page.screenshot()) for pixel in row}
# SPDX-License-Identifier: Apache-2.0
