#!/usr/bin/env python3
"""Copying words of the dialog into answers (engine/networks/decoders/copying.c) once more, in plain
PyTorch behind the twins of answers.py: golden numbers of tests/golden/test_networks.c.

    python3 tests/golden/copying.py [--check]

writes tests/golden/data/copying.safetensors, or compares what it would write with what is there. As
answers.py; and the texts with own numbers, V and above, where words are unknown."""
import itertools
import math
import os

import numpy
import torch

from answers import (END, O, START, TO, U, hre_words, lf_words, lstm_from, mac_words, memn2n_words,
                     mn_words, scores_of)
from networks import (B, E, H, R, V, Dialog, Weights, inputs, run, sigmoid, softmax, tanh)

UNKNOWN, OWN = 3, 3
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "copying.safetensors")

CASES = {
    "mn-pointer": ("mn", mn_words, "bilinear", "decoder", "pointer"),
    "mac-pointer": ("mac", mac_words, "additive", "gen_decoder", "pointer"),
    "lf-copynet": ("lf", lf_words, "bilinear", "decoder", "copynet"),
    "hre-copynet": ("hre", hre_words, "additive", "gen_decoder", "copynet"),
    "memn2n-copynet": ("memn2n", memn2n_words, "dot", "decoder", "copynet"),
    "lf-coverage": ("lf", lf_words, "bilinear", "decoder", "pointer"),
}


def known(ids):
    return torch.where(ids >= V, torch.tensor(UNKNOWN), ids)


def mean_of(x, source, word):
    places = source == word
    return x[places].mean(0) if places.any() else torch.zeros(H, dtype=torch.float64)


def check_paths(g, generated, a, source, said, p):
    """P of an answer is the sum over every choice of paths: each word generated, or copied from one
    of its places."""
    ways = [([g[i] * generated[i, y]] if y < V else []) +
            [(1 - g[i]) * a[i, j] for j in range(len(source)) if source[j] == y]
            for i, y in enumerate(said)]
    paths = sum(math.prod(one.item() for one in path) for path in itertools.product(*ways))
    assert abs(paths - p[torch.arange(len(said)), said].prod().item()) < 1e-12


def answer_logs(w, case, e, x, source, answer):
    """log P of the answer's words and of </S>, one after the other, and what each word looks at
    again, which coverage is about; `source`: the words x are states of, unknown ones with own
    numbers."""
    kind, decoder, copy = case[2:]
    read, said = torch.tensor([START, *answer]), torch.tensor([*answer, END])
    word = w.words(known(read))
    taken = word
    if copy == "copynet":
        taken = torch.cat([word, torch.stack([mean_of(x, source, i) for i in read])], 1)
    s = lstm_from(w, decoder + ".answer_rnn", taken, e)
    a = softmax(scores_of(w, decoder + ".attention.score", kind, s, x), 1)
    out = tanh(w.linear(decoder + ".attention.out", torch.cat([s, a @ x], 1), H))
    score = w.linear(decoder + ".lstm_to_words", out, V)
    p = torch.zeros(len(read), V + OWN, dtype=torch.float64)
    if copy == "pointer":
        g = sigmoid(w.linear(decoder + ".pointer", torch.cat([a @ x, s, word], 1), 1))
        p = torch.cat([g * softmax(score, 1), p[:, V:]], 1)
        p = p.index_add(1, source, (1 - g) * a)
    else:
        places = s @ tanh(w.linear(decoder + ".copy", x, H, False)).T
        both = softmax(torch.cat([score, places], 1), 1)
        p = torch.cat([both[:, :V], p[:, V:]], 1).index_add(1, source, both[:, V:])
    there = (said < V) | torch.isin(said, source)
    said = torch.where(there, said, torch.tensor(UNKNOWN))
    assert torch.allclose(p.sum(1), torch.ones(len(read), dtype=torch.float64))
    if copy == "pointer":
        check_paths(g[:, 0], softmax(score, 1), a, source, said, p)
    again = torch.minimum(a, a.cumsum(0) - a).sum(1)
    return torch.stack([torch.log(p[torch.arange(len(said)), said]), again])


def dialog_logs(w, case, d, own, answers):
    """For each question the log-probabilities of each of its candidates, and what is looked at
    again."""
    network, words, _, decoder, _ = case
    e, (questions, entries) = run(network, w, d), words(w, d)
    out = []
    for t in range(R):
        x = torch.cat([w.linear(decoder + ".attention.history", torch.cat(entries[:t + 1]), H),
                       w.linear(decoder + ".attention.question", questions[t], H)])
        source = torch.cat([*own.entries[:t + 1], own.questions[t]])
        out.append([answer_logs(w, case, e[t], x, source, answer) for answer in answers[t]])
    return e, out


def texts():
    """Texts of the small batch in which some words are unknown, and answers that use them."""
    out, random = inputs(), numpy.random.default_rng(9)
    for name in ("ques", "hist"):
        unknown = (out[name] != 0) & (random.random(out[name].shape) < 0.4)
        own = numpy.where(unknown, random.integers(V, V + OWN, out[name].shape), out[name])
        out[name + "_own"] = own
        out[name] = numpy.where(own >= V, UNKNOWN, own)
    answers = [[V, 5], [V + 1], [], [7, V + 2], [UNKNOWN, 9], [V + 2, V]]
    rows = numpy.zeros((U, TO))
    for row, answer in zip(rows, answers):
        row[:len(answer) + 2] = [START, *answer, END]
    out.update({"opt": numpy.where(rows >= V, UNKNOWN, rows), "opt_own": rows,
                "opt_len": numpy.array([len(a) + 2 for a in answers]),
                "option": numpy.stack([random.permutation(U)[:O] for _ in range(B * R)]),
                "truth": random.integers(0, O, B * R)})
    return out, answers


def dialogs_of(batch, end):
    rows = [[torch.tensor(row[:n]).long() for row, n in zip(batch[name + end], batch[name + "_len"])]
            for name in ("ques", "hist")]
    return [Dialog(torch.tensor(batch["img"][b]), *(t[b * R:b * R + R] for t in rows))
            for b in range(B)]


def make():
    out, answers = texts()
    dialogs = list(zip(dialogs_of(out, ""), dialogs_of(out, "_own")))
    for seed, (name, case) in enumerate(CASES.items()):
        w = Weights(200 + seed)
        results = [dialog_logs(w, case, d, own, [[answers[i] for i in row]
                                                 for row in out["option"][b * R:b * R + R]])
                   for b, (d, own) in enumerate(dialogs)]
        logs = [question for result in results for question in result[1]]
        truth = torch.cat([row[t] for row, t in zip(logs, out["truth"])], 1).mean(1)
        loss = truth[1] - truth[0] if name.endswith("-coverage") else -truth[0]
        loss.backward()
        out[f"{name}/e"] = torch.cat([r[0] for r in results]).detach().numpy()
        out[f"{name}/loss"] = loss.detach().numpy().reshape(1)
        out[f"{name}/scores"] = torch.stack([torch.stack([a[0].mean() for a in row])
                                             for row in logs]).detach().numpy()
        w.write(name, out)
    return {name: numpy.asarray(value, numpy.float32) for name, value in out.items()}


if __name__ == "__main__":
    import sys

    from networks import main
    sys.exit(main(FILE, make))
