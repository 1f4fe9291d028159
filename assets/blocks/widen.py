#!/usr/bin/env python3
"""Makes an amem of more hidden units that answers as the one given (Net2WiderNet, Chen, Goodfellow, Shlens 2016).

    python3 assets/blocks/widen.py --hidden 256 --out wide.safetensors assets/best.safetensors

Some units are doubled. What reads a doubled unit gets its weight in two parts, half of it plus and minus noise: the sum
stays the same, and training can tell the two apart. `visdial train --from wide.safetensors --hidden 256` goes on."""
import argparse
import json
import random
import statistics
import struct
import sys

from average import numbers, read, write

NOISE = 0.5  # of a matrix's standard deviation


def doubled(old, new):
    """Which old unit each new one is: all of them, then some once more."""
    if not old <= new <= 2 * old:
        sys.exit(f"widen.py: {old} units cannot become {new}; expected {old} to {2 * old}")
    return [*range(old), *random.sample(range(old), new - old)]


def spread(rows, units):
    """The matrix of what reads the units: the columns of doubled ones sum up to the old column."""
    noise = NOISE * statistics.pstdev(x for row in rows for x in row)
    places = {}
    for place, unit in enumerate(units):
        places.setdefault(unit, []).append(place)
    wide = [[row[unit] for unit in units] for row in rows]
    for one, two in (pair for pair in places.values() if len(pair) == 2):
        for row in wide:
            half, apart = row[one] / 2, random.gauss(0, noise)
            row[one], row[two] = half + apart, half - apart
    return wide


def spread_all(rows, units, old):
    """The same for what reads several vectors, one behind the other."""
    parts = [spread([row[at:at + old] for row in rows], units) for at in range(0, len(rows[0]), old)]
    return [sum(of_row, []) for of_row in zip(*parts, strict=True)]


def widen_lstm(name, rows, units, old):
    rows = [rows[gate * old + unit] for gate in range(4) for unit in units]
    reads_units = "weight_hh" in name or "weight_ih_l1" in name
    return spread(rows, units) if reads_units else rows


def transposed(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def widen(name, rows, halves, old):
    """rows: of the weights; of a bias, numbers of one column."""
    units = halves[0] + [old // 2 + unit for unit in halves[1]]
    if name.endswith("word_embed.weight"):
        return rows
    if name.startswith("decoder."):
        return widen_lstm(name, rows, units, old)
    if ".rnn_model." in name:  # half of the units in each direction
        return widen_lstm(name, rows, halves["_reverse" in name], old // 2)
    if name.endswith((".start", ".age.weight")):
        return [[row[unit] for unit in units] for row in rows]
    reads_regions = name.startswith(("encoder.image.straight.", "encoder.image.0.", "encoder.regions.difference."))
    if name.endswith(".weight") and len(rows[0]) % old == 0 and not reads_regions:
        rows = spread_all(rows, units, old)
    if name.startswith("encoder.out.2."):  # its product with the answers' vectors is a score
        return transposed(spread(transposed(rows), units))
    return [rows[unit] for unit in units] if len(rows) == old else rows


def matrix(tensor, data):
    values, columns = numbers(tensor, data)[1], tensor["shape"][1] if len(tensor["shape"]) == 2 else 1
    return [list(values[at:at + columns]) for at in range(0, len(values), columns)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="an amem")
    parser.add_argument("--hidden", type=int, required=True, help="its new number of hidden units")
    parser.add_argument("--out", required=True, help="the model to write, as float32")
    given = parser.parse_args()
    head, data = read(given.model)
    config = json.loads(head["__metadata__"]["config"])
    old = config["hidden"]
    if config["network"] != "amem" or old % 2 or given.hidden % 2:
        sys.exit(f"widen.py: a {config['network']} of {old} units to {given.hidden}; expected an amem, even numbers")
    random.seed(1)
    halves = [doubled(old // 2, given.hidden // 2) for _ in range(2)]
    config["hidden"] = given.hidden
    head["__metadata__"]["config"] = json.dumps(config, separators=(",", ":"))
    out, used = [], 0
    for name, tensor in head.items():
        if name == "__metadata__":
            continue
        rows = widen(name, matrix(tensor, data), halves, old)
        out += [x for row in rows for x in row]
        tensor.update(dtype="F32", data_offsets=[4 * used, 4 * len(out)],
                      shape=[len(rows), len(rows[0])][:len(tensor["shape"])])
        used = len(out)
    write(given.out, head, struct.pack(f"<{len(out)}f", *out))


if __name__ == "__main__":
    main()
