#!/usr/bin/env python3
"""Draws what `tmux capture-pane -e -p` prints as a PNG, for looking at screens and for the README.

    tmux capture-pane -e -p -N -t chat | tests/screen/screenshot.py assets/screenshot.png

Needs Pillow and the DejaVu Sans Mono font (Debian: python3-pil fonts-dejavu-core).
"""
import argparse
import re
import sys
import unicodedata

from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf"
FOREGROUND, BACKGROUND = (0xD4, 0xD7, 0xDB), (0x17, 0x1A, 0x1F)
BASE = [0x1D1F21, 0xCC6666, 0x8ABE77, 0xD7A65F, 0x6A9FCA, 0xB294BB, 0x79B8B0, 0xC5C8C6,
        0x707880, 0xE88388, 0xA8CC8C, 0xE7C787, 0x81B7E3, 0xCDA8D8, 0x9AD7CF, 0xFFFFFF]


def rgb(value):
    return (value >> 16 & 255, value >> 8 & 255, value & 255)


def palette(index):
    if index < 16:
        return rgb(BASE[index])
    if index >= 232:
        return (8 + 10 * (index - 232),) * 3
    steps = (0, 95, 135, 175, 215, 255)
    index -= 16
    return (steps[index // 36], steps[index // 6 % 6], steps[index % 6])


class Style:
    def __init__(self):
        self.fg = self.bg = None
        self.bold = self.dim = self.italic = self.underline = self.reverse = False

    def sgr(self, codes):
        codes = [int(c) if c else 0 for c in re.split("[;:]", codes)]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 2, 3, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}[code],
                        True)
            elif code == 22:
                self.bold = self.dim = False
            elif code in (23, 24, 27):
                setattr(self, {23: "italic", 24: "underline", 27: "reverse"}[code], False)
            elif code in (38, 48):
                kind = codes.pop(0)
                color = palette(codes.pop(0)) if kind == 5 else tuple(codes.pop(0) for _ in "rgb")
                setattr(self, "fg" if code == 38 else "bg", color)
            elif code in (39, 49):
                setattr(self, "fg" if code == 39 else "bg", None)
            elif 30 <= code < 38 or 90 <= code < 98:
                self.fg = palette(code - 30 if code < 40 else code - 82)
            elif 40 <= code < 48 or 100 <= code < 108:
                self.bg = palette(code - 40 if code < 50 else code - 92)

    def colors(self):
        fg, bg = self.fg or FOREGROUND, self.bg or BACKGROUND
        if self.reverse:
            fg, bg = bg, fg
        if self.dim:
            fg = tuple((f + b) // 2 for f, b in zip(fg, bg))
        return fg, bg


def block(draw, char, box, fg):
    """Block elements drawn as rectangles, without the gaps that fonts leave."""
    x0, y0, x1, y1 = box
    w, h, code = x1 - x0, y1 - y0, ord(char)
    if code == 0x2588:
        draw.rectangle((x0, y0, x1 - 1, y1 - 1), fg)
    elif 0x2581 <= code <= 0x2587:
        draw.rectangle((x0, y1 - round(h * (code - 0x2580) / 8), x1 - 1, y1 - 1), fg)
    elif 0x2589 <= code <= 0x258F:
        draw.rectangle((x0, y0, x0 + max(1, round(w * (0x2590 - code) / 8)) - 1, y1 - 1), fg)
    elif code in (0x2580, 0x2590, 0x2594, 0x2595):
        part = {0x2580: (0, 0, 1, .5), 0x2590: (.5, 0, 1, 1), 0x2594: (0, 0, 1, .125),
                0x2595: (.875, 0, 1, 1)}[code]
        draw.rectangle((x0 + round(w * part[0]), y0 + round(h * part[1]),
                        x0 + round(w * part[2]) - 1, y0 + round(h * part[3]) - 1), fg)
    elif 0x2596 <= code <= 0x259F:
        quads = {0x2596: "c", 0x2597: "d", 0x2598: "a", 0x2599: "acd", 0x259A: "ad", 0x259B: "abc",
                 0x259C: "abd", 0x259D: "b", 0x259E: "bc", 0x259F: "bcd"}[code]
        for quad in quads:
            left, top = x0 + (w // 2 if quad in "bd" else 0), y0 + (h // 2 if quad in "cd" else 0)
            right, bottom = (x1 if quad in "bd" else x0 + w // 2), (y1 if quad in "cd" else y0 + h // 2)
            draw.rectangle((left, top, right - 1, bottom - 1), fg)
    elif 0x2800 <= code <= 0x28FF:
        for bit in range(8):
            if code >> bit & 1:
                column, dot = (bit // 3, bit % 3) if bit < 6 else (bit - 6, 3)
                x, y = x0 + w * (2 * column + 1) // 4, y0 + h * (2 * dot + 1) // 8
                draw.ellipse((x - 1, y - 1, x + 1, y + 1), fg)
    else:
        return False
    return True


def cells(line, style):
    column = 0
    for part in re.split("(\033\\[[0-9;:]*m|\033\\([0B]|[\016\017])", line):
        if part.startswith("\033["):
            style.sgr(part[2:-1])
        elif part and not part.startswith(("\033", "\016", "\017")):
            for char in part:
                if unicodedata.combining(char):
                    continue
                wide = 2 if unicodedata.east_asian_width(char) in "WF" else 1
                yield column, wide, char
                column += wide


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("png")
    parser.add_argument("--size", type=int, default=18, help="of the font, in pixels")
    parser.add_argument("--light", action="store_true", help="dark text on a light background")
    arguments = parser.parse_args()
    if arguments.light:
        global FOREGROUND, BACKGROUND
        FOREGROUND, BACKGROUND = (0x20, 0x23, 0x28), (0xFD, 0xFD, 0xFB)
    faces = {name: ImageFont.truetype(FONTS % name, arguments.size)
             for name in ("", "-Bold", "-Oblique", "-BoldOblique")}
    ascent, descent = faces[""].getmetrics()
    width, height = round(faces[""].getlength("M")), ascent + descent
    lines = sys.stdin.read().rstrip("\n").split("\n")
    columns = max(max((c + w for c, w, _ in cells(line, Style())), default=0) for line in lines)
    margin = arguments.size // 2
    image = Image.new("RGB", (columns * width + 2 * margin, len(lines) * height + 2 * margin),
                      BACKGROUND)
    draw = ImageDraw.Draw(image)
    style = Style()  # goes on from line to line
    for row, line in enumerate(lines):
        for column, wide, char in cells(line, style):
            x, y = margin + column * width, margin + row * height
            box = (x, y, x + wide * width, y + height)
            fg, bg = style.colors()
            draw.rectangle((box[0], box[1], box[2] - 1, box[3] - 1), bg)
            if char != " " and not block(draw, char, box, fg):
                face = ("-" if style.bold or style.italic else "") + ("Bold" if style.bold else "") + \
                    ("Oblique" if style.italic else "")
                draw.text((x, y), char, fg, faces[face])
            if style.underline:
                draw.line((box[0], y + ascent + 2, box[2] - 1, y + ascent + 2), fg)
    # A palette: the text's edges lose nothing that is seen, the file half its size.
    image.quantize(256, dither=Image.Dither.NONE).save(arguments.png, optimize=True)


if __name__ == "__main__":
    main()
