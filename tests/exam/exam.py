#!/usr/bin/env python3
"""Asks a model what people typed about new Blocks pictures, and counts acceptable first answers.

    python3 tests/exam/exam.py tests/exam/measure.json [--model best] [--visdial build/visdial] [--list]

The questions are conversations of eight about a picture each, by people who did not know the question grammar:
choose.json (seventeen people) was read while the grammar was widened, measure.json (seven people) is only counted (so do not
use --list with it). Each question lists what is acceptable: regular expressions for the whole answer, and these
shorthands:

    YES, NO   a plain yes or no           N:3   the number in any wording
    V:red     one value in any wording    T:small red metal cube   the thing by any true name

A conversation goes on with the model's own answers. The pictures are made anew (`visdial blocks world --seed`)."""
import argparse
import itertools
import json
import os
import re
import subprocess
import tempfile

YES = "yes|yeah|yep|yes, it is|yes, there is|yes, there are|yes, they are"
NO = ("no|nope|no, it isn't|no, it's not|no, there isn't|no, there aren't|no, they aren't|no, they're not|no, i don't see any|"
      "not that i can see|none|there are none|i don't see any|nothing|0|no, none of them|none of them|there's nothing there")
ALIKE = {"large": "big|large", "big": "big|large", "metal": "metal|shiny metal", "rubber": "rubber|matte rubber"}


def count(number):
    if number == "0":
        return NO + "|i don't see one|there isn't one"
    also = "|both|both of them" if number == "2" else ""
    return rf"(?:just |only |there are |there is |yes, )?{number}|(?:yes, )?{number} of them{also}"


def value(word):
    names = f"(?:{ALIKE.get(word, word)})"
    return rf"(?:(?:it's |they're all |both )?(?:an? |the )?|it's the ){names}(?:s| ones?)?"


def thing(text):
    *words, shape = text.split()
    names = [" ".join((*some, noun)) for n in range(len(words) + 1) for some in itertools.combinations(words, n)
             for noun in (shape, "one") if some or noun == shape]
    names = "|".join(re.sub("large|big", "(?:big|large)", name) for name in names)
    return rf"(?:it's )?(?:an? |the )?(?:{names})"


def acceptable(answer, patterns):
    for pattern in patterns:
        kind, _, rest = pattern.partition(":")
        full = {"YES": YES, "NO": NO}.get(pattern) or (
            {"N": count, "V": value, "T": thing}[kind](rest.strip()) if kind in ("N", "V", "T") and rest else pattern)
        if re.fullmatch(full, answer.lower()):
            return True
    return False


def ask(given, world, talk):
    command = [given.visdial, "ask", "--data", f"{world}/dialogs.json", "--features", f"{world}/features.safetensors",
               "--image", str(talk["image_id"]), "--model", given.model, "--json", "--top", "1"]
    typed = "".join(q["question"] + "\n" for q in talk["questions"])
    said = subprocess.run(command, input=typed, capture_output=True, text=True, check=True).stdout
    return [json.loads(line)["answers"][0]["text"] for line in said.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", help="choose.json or measure.json")
    parser.add_argument("--model", default="best", help="model to ask (best)")
    parser.add_argument("--visdial", default="build/visdial", help="the program (build/visdial)")
    parser.add_argument("--list", action="store_true", help="print every question and answer, x: not acceptable")
    given = parser.parse_args()
    given.visdial = os.path.abspath(given.visdial)
    with open(given.questions, encoding="utf-8") as file:
        talks = json.load(file)
    right = total = 0
    with tempfile.TemporaryDirectory() as directory:
        for seed, of_seed in itertools.groupby(talks, lambda talk: talk["seed"]):
            world = os.path.join(directory, str(seed))
            subprocess.run([given.visdial, "blocks", "world", "--out", world, "--seed", str(seed), "--split", "test",
                            "--count", "16", "--quiet"], check=True)
            for talk in of_seed:
                for question, answer in zip(talk["questions"], ask(given, world, talk), strict=True):
                    good = acceptable(answer, question["accept"])
                    right, total = right + good, total + 1
                    if given.list:
                        print(" " if good else "x", question["question"], "|", answer)
    print(f"{right} of {total} first answers are acceptable ({right / total:.1%})")


if __name__ == "__main__":
    main()
