#!/usr/bin/env python3
"""Gives a model of the network amem (or mac) other reasoning steps, to train it on (`visdial train --from OUT --hops N`).

    python3 assets/blocks/reasoning_steps.py --out six.safetensors four.safetensors 1 1 1 2 3 4

Each number is the step of MODEL whose weights the new step has. Only a layer for the question belongs to a step; the
steps share all other weights."""
import argparse
import json
import re
import sys

from average import read, write

OWN = re.compile(r"encoder\.control\.question\.(\d+)(\..*)")


def rearrange(head, data, steps):
    out, parts = {"__metadata__": head["__metadata__"]}, bytearray()
    own = {name: OWN.fullmatch(name) for name in head}
    there = len({found[1] for found in own.values() if found})
    if not there or not all(1 <= step <= there for step in steps):
        sys.exit(f"reasoning_steps.py: the model has {there} steps; expected numbers from 1 to {there}")
    for name, tensor in head.items():
        if name == "__metadata__" or own[name] and own[name][1] != "0":
            continue
        copies = [(name, tensor)]
        if own[name]:
            copies = [(f"encoder.control.question.{i}{own[name][2]}",
                       head[f"encoder.control.question.{step - 1}{own[name][2]}"]) for i, step in enumerate(steps)]
        for copy, source in copies:
            first, last = source["data_offsets"]
            out[copy] = {**source, "data_offsets": [len(parts), len(parts) + last - first]}
            parts += data[first:last]
    config = json.loads(head["__metadata__"]["config"])
    out["__metadata__"]["config"] = json.dumps({**config, "hops": len(steps)}, separators=(",", ":"))
    return out, bytes(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("steps", nargs="+", type=int, metavar="STEP", help="of the model, counted from 1")
    parser.add_argument("--out", required=True, help="the model to write")
    given = parser.parse_args()
    write(given.out, *rearrange(*read(given.model), given.steps))


if __name__ == "__main__":
    main()
