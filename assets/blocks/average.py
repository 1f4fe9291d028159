#!/usr/bin/env python3
"""Averages the weights of models of one kind (Izmailov et al. 2018; "model soups", Wortsman et al. 2022).

    python3 assets/blocks/average.py --out best.safetensors two/model.safetensors=2 three/model.safetensors=2 \\
        one/model.safetensors=1

Each MODEL=SHARE counts by its share of the sum of all shares. Everything but the weights is the first one's. Others may
lack the last words of its vocabulary (`visdial train --new-words`)."""
import argparse
import array
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        head = json.loads(file.read(size))
        return head, file.read()


def write(path, head, data):
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def numbers(tensor, data):
    kinds = {"F16": "e", "F32": "f"}
    if tensor["dtype"] not in kinds:
        sys.exit(f"average.py: numbers of type {tensor['dtype']}; expected F16 or F32")
    first, last = tensor["data_offsets"]
    part = data[first:last]
    kind = kinds[tensor["dtype"]]
    return kind, struct.unpack(f"<{len(part) // struct.calcsize(kind)}{kind}", part)


def words(head):
    return json.loads(head["__metadata__"]["vocab"])


def fits(name, tensor, other):
    """Of the same shape, or the vectors of the first words."""
    if name == "encoder.word_embed.weight":
        return tensor["shape"][1] == other["shape"][1] and tensor["shape"][0] >= other["shape"][0]
    return tensor["shape"] == other["shape"]


def average(models):
    (head, data), _ = models[0]
    out = bytearray(data)
    for (other, _), _ in models:
        if words(head)[:len(words(other))] != words(other):
            sys.exit("average.py: the words of a model are not the first ones of the first model")
    for name, tensor in head.items():
        if name == "__metadata__":
            continue
        kind, own = numbers(tensor, data)
        mean, whole = array.array("d", bytes(8 * len(own))), array.array("d", bytes(8 * len(own)))
        for (other, bytes_of_other), share in models:
            if name not in other or not fits(name, tensor, other[name]):
                sys.exit(f"average.py: {name} is not of the same shape in all models")
            for i, value in enumerate(numbers(other[name], bytes_of_other)[1]):
                mean[i] += share * value
                whole[i] += share
        first, last = tensor["data_offsets"]
        out[first:last] = struct.pack(f"<{len(mean)}{kind}", *(x / share for x, share in zip(mean, whole, strict=True)))
    return head, out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL[=SHARE]")
    parser.add_argument("--out", required=True, help="the model to write")
    given = parser.parse_args()
    pairs = [one.rsplit("=", 1) if "=" in one else [one, "1"] for one in given.models]
    write(given.out, *average([(read(path), float(share)) for path, share in pairs]))


if __name__ == "__main__":
    main()
