#!/usr/bin/env python3
"""Golden numbers of the metrics of captions, from pycocoevalcap (PyPI) and, for METEOR-es, from a
plain twin of its definition (engine/measure/meteor.h) with the stemmer of snowballstemmer < 3.

    caption_scores.py --make    writes tests/golden/data/caption_scores.json
    caption_scores.py --check FILE    scores FILE (the corpora of caption_scores.json, any numbers) anew; prints
                                the largest difference from its BLEU, ROUGE-L and CIDEr-D"""
import functools
import json
import os
import random
import sys

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider_scorer import CiderScorer
from pycocoevalcap.rouge.rouge import Rouge

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = ("a the man men dog dogs run runs running red ball balls on in of , walk walked walking "
         "grass table happily happy").split()
STEMS = ("caresses flies dies mules denied died agreed owned humbled sized meeting stating siezing "
         "itemization sensational traditional reference colonizer plotted skies dying news only "
         "generously communism arsenal yes boy boys enjoy enjoying happily happiness tables "
         "standing sitting hopping hoping fulfilled yelled proceed succeed inning consign "
         "consistency knackeries youth toy say saying by cry crying cried rate rating relational "
         "vietnamization formality electricity hopefulness goodness gradual revival allowance "
         "inference airliner gyroscopic adjustable defensible irritant replacement adoption "
         "homologous communicate activate angularity effective bowdlerize probate cease controll "
         "roll feed eed bleed bled luxuriating hopped falling filing filling tanned fizzed failing "
         "files us gas this gaps kiwis ties cries dog's dogs' it's 'tis 5 can't shed").split()


def scores(said, references):
    gts = {i: r for i, r in enumerate(references)}
    res = {i: [h] for i, h in enumerate(said)}
    bleu, bleu_each = Bleu(4).compute_score(gts, res, verbose=0)
    rouge, rouge_each = Rouge().compute_score(gts, res)
    scorer = CiderScorer(n=4, sigma=6.0)
    for h, r in zip(said, references):
        scorer += (h, r)
    cider, cider_each = scorer.compute_score()
    return {"bleu": bleu, "bleu_each": [list(x) for x in zip(*bleu_each)], "rouge": float(rouge),
            "rouge_each": [float(x) for x in rouge_each], "cider": float(cider),
            "cider_each": [float(x) for x in cider_each]}


def meteor_counts(h, r, stem):
    """Every alignment is tried: the greatest of (2 sum of weights, -chunks, -distance, counts)."""
    @functools.lru_cache(None)
    def best(i, used, last):
        if i == len(h):
            return 0, 0, 0, 0, 0
        found = [best(i + 1, used, None)]
        for j, word in enumerate(r):
            if j in used or stem(word) != stem(h[i]):
                continue
            exact = word == h[i]
            rest = best(i + 1, used | {j}, j)
            new = last is None or last + 1 != j
            found.append((rest[0] + 1 + exact, rest[1] - new, rest[2] - abs(i - j),
                          rest[3] + exact, rest[4] + 1))
        return max(found)
    _, chunks, _, exact, matches = best(0, frozenset(), None)
    whole = chunks == -1 and matches == len(h) == len(r)
    return [exact + 0.6 * (matches - exact), matches, 0 if whole else -chunks, len(h), len(r)]


def meteor_score(c):
    weight, matches, chunks, said, reference = c
    if matches == 0:
        return 0.0
    p, q = weight / said, weight / reference
    f = p * q / (0.85 * p + 0.15 * q)
    return f * (1 - 0.6 * (chunks / matches) ** 0.2)


def meteor(said, references, stem):
    total, each = [0.0] * 5, []
    for h, refs in zip(said, references):
        counts = [meteor_counts(tuple(h.split()), tuple(r.split()), stem) for r in refs]
        best = max(counts, key=meteor_score)
        total = [a + b for a, b in zip(total, best)]
        each.append(meteor_score(best))
    return {"meteor_es": meteor_score(total), "meteor_es_each": each}


def sentence(rng, longest):
    return " ".join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 3, 5, 7, longest])))


def corpus(rng, pictures, most):
    said, references = [], []
    for picture in range(pictures):
        refs = [sentence(rng, 10) for _ in range(rng.randint(1, most))]
        if picture == 0:
            refs[0] = "a red ball on grass"  # CiderScorer wants an n-gram
        kind = rng.random()
        words = refs[0].split()
        if kind < 0.2:
            said.append(refs[-1])
        elif kind < 0.6 and words:
            for _ in range(2):
                words[rng.randrange(len(words))] = rng.choice(WORDS)
            rng.shuffle(words) if kind < 0.3 else None
            said.append(" ".join(words))
        else:
            said.append(sentence(rng, 9))
        references.append(refs)
    return said, references


def make():
    import snowballstemmer
    stem = functools.lru_cache(None)(snowballstemmer.stemmer("english").stemWord)
    rng = random.Random(18)
    corpora = [corpus(rng, 1, 3), corpus(rng, 2, 1), corpus(rng, 9, 5), corpus(rng, 40, 5),
               (["a red ball", ""], [["a red ball"], ["a dog", ""]]), (["", ""], [[""], ["a"]]),
               # Ties: of two reference lengths that are equally near the shorter counts.
               (["a b c d"] * 3, [["a b c", "a b c d e"], ["a b c d e", "a b c"], ["a b", "e f g"]])]
    out = {"stems": {w: stem(w) for w in STEMS}, "corpora": []}
    for said, references in corpora:
        out["corpora"].append({"said": said, "references": references, **scores(said, references),
                               **meteor(said, references, stem)})
    with open(os.path.join(HERE, "data", "caption_scores.json"), "w", encoding="utf-8") as file:
        json.dump(out, file, indent=None, separators=(",", ":"))
        file.write("\n")


def check(path):
    with open(path, encoding="utf-8") as file:
        corpora = json.load(file)["corpora"]
    worst = 0.0
    for c in corpora:
        found = scores(c["said"], c["references"])
        for key in ("bleu", "rouge_each", "cider_each"):
            worst = max([worst] + [abs(a - b) for a, b in zip(found[key], c[key], strict=True)])
        for a, b in zip(found["bleu_each"], c["bleu_each"], strict=True):
            worst = max([worst] + [abs(x - y) for x, y in zip(a, b, strict=True)])
        worst = max(worst, abs(found["rouge"] - c["rouge"]), abs(found["cider"] - c["cider"]))
    print(f"{sum(len(c['said']) for c in corpora)} captions, largest difference {worst:.3e}")


if sys.argv[1:] == ["--make"]:
    make()
elif len(sys.argv) == 3 and sys.argv[1] == "--check":
    check(sys.argv[2])
else:
    sys.exit(__doc__)
