#!/usr/bin/env python3
"""Joins the train splits of several sets of `visdial blocks make` into one to train on.

    python3 assets/blocks/join.py --out all blocks more more-dialogs=more

Each set is a directory; DIALOGS=PICTURES takes the dialogs of the first and the region features of the
second (`blocks make --dialog-seed N --no-features` makes other dialogs about the same pictures). Picture
numbers of the k-th set, counted from 0, are raised by k * 2,000,000. Writes train.json, train_dense.json,
train_features.safetensors and, where every DIALOGS has its scenes, train_scenes.json."""
import argparse
import json
import mmap
import os
import struct
import sys

STEP = 2000000
NAMES = ["image_id", "num_regions", "boxes", "features"]


class Features:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = struct.unpack("<Q", self.bytes[:8])[0]
        self.head, self.start = json.loads(self.bytes[8:8 + size]), 8 + size
        self.rows = self.head["image_id"]["shape"][0]
        self.most = self.head["features"]["shape"][1]  # regions of a picture

    def row_bytes(self, name):
        first, last = self.head[name]["data_offsets"]
        return (last - first) // self.rows

    def row(self, name, row):
        size = self.row_bytes(name)
        at = self.start + self.head[name]["data_offsets"][0] + row * size
        return self.bytes[at:at + size]


def layout(sets, most):
    """The joined file's header: rows of all, room for as many regions as the fullest picture needs."""
    head, at, rows = {"__metadata__": {"source": "visdial blocks, joined"}}, 0, sum(s.rows for s in sets)
    for name in NAMES:
        told = sets[0].head[name]
        size = sets[0].row_bytes(name)
        shape = [rows] + told["shape"][1:]
        if len(shape) > 1:
            size, shape[1] = size // sets[0].most * most, most
        head[name] = {"dtype": told["dtype"], "shape": shape, "data_offsets": [at, at + rows * size]}
        at += rows * size
    return head


def write_features(sets, path):
    most = max(s.most for s in sets)
    text = json.dumps(layout(sets, most)).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for name in NAMES:
            for k, s in enumerate(sets):
                size = s.row_bytes(name)
                room = size // s.most * most if name in ("boxes", "features") else size
                for row in range(s.rows):
                    data = s.row(name, row)
                    if name == "image_id":
                        data = struct.pack("<q", struct.unpack("<q", data)[0] + k * STEP)
                    out.write(data + b"\0" * (room - size))


def load(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        return json.load(file)


def add_dialogs(whole, data, k):
    """Texts are appended to those of the sets before, and the numbers of texts moved."""
    questions, answers = len(whole["questions"]), len(whole["answers"])
    for dialog in data["dialogs"]:
        dialog["image_id"] += k * STEP
        for turn in dialog["dialog"]:
            turn["question"] += questions
            turn["answer"] += answers
            turn["answer_options"] = [option + answers for option in turn["answer_options"]]
    for part in ("questions", "answers", "dialogs"):
        whole[part] += data[part]


def write_dialogs(directories, out):
    whole, relevance = None, []
    for k, directory in enumerate(directories):
        found = load(directory, "train.json")
        if whole is None:
            whole = {**found, "data": {"questions": [], "answers": [], "dialogs": []}}
        add_dialogs(whole["data"], found["data"], k)
        for turn in load(directory, "train_dense.json"):
            relevance.append({**turn, "image_id": turn["image_id"] + k * STEP})
    for name, content in (("train.json", whole), ("train_dense.json", relevance)):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            json.dump(content, file)


def write_scenes(directories, out):
    scenes = []
    for k, directory in enumerate(directories):
        scenes += [{**scene, "image_id": scene["image_id"] + k * STEP}
                   for scene in load(directory, "train_scenes.json")]
    with open(os.path.join(out, "train_scenes.json"), "w", encoding="utf-8") as file:
        json.dump(scenes, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="DIALOGS[=PICTURES]")
    parser.add_argument("--out", required=True, help="directory to write to")
    given = parser.parse_args()
    pairs = [(one + "=" + one).split("=")[:2] for one in given.sets]
    features = [Features(os.path.join(pictures, "train_features.safetensors")) for _, pictures in pairs]
    if len({(s.head["features"]["dtype"], s.head["features"]["shape"][2]) for s in features}) > 1:
        sys.exit("join.py: the features of the sets are of different sizes or types: extract them alike")
    os.makedirs(given.out, exist_ok=True)
    write_features(features, os.path.join(given.out, "train_features.safetensors"))
    directories = [dialogs for dialogs, _ in pairs]
    write_dialogs(directories, given.out)
    if all(os.path.exists(os.path.join(one, "train_scenes.json")) for one in directories):
        write_scenes(directories, given.out)


if __name__ == "__main__":
    main()
