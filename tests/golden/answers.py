#!/usr/bin/env python3
"""The generative decoders with attention over the dialog (engine/networks/decoders/) once more, and
the network that goes on with its own text, in plain PyTorch behind the twins of networks.py: golden
numbers of tests/golden/test_networks.c.

    python3 tests/golden/answers.py [--check]

writes tests/golden/data/answers.safetensors, or compares what it would write with what is there. For
each network and score: the weights, e, the loss, the scores of all candidates, and the gradient of
the loss."""
import math
import os

import numpy
import torch

from networks import (B, E, ENTRIES, H, QUESTIONS, R, STEPS, V, Weights, dialog_tokens, dialogs_of,
                      inputs, norm, run, sigmoid, softmax, tanh, transformer_layer)

U, O, TO = 6, 4, 4
START, END = 1, 2
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "answers.safetensors")


def lf_words(w, d):
    strung = w.lstm(ENTRIES, w.words(torch.cat(d.entries)), H)
    return w.ends(QUESTIONS, d.questions)[0], strung.split([len(entry) for entry in d.entries])


def hre_words(w, d):
    i = w.linear("encoder.image", d.picture[0], E)
    questions = w.ends(QUESTIONS, d.questions,
                       also=lambda x: torch.cat([x, i.expand(len(x), E)], 1))[0]
    return questions, w.ends(ENTRIES, d.entries)[0]


def mn_words(w, d):
    return w.ends(QUESTIONS, d.questions)[0], w.ends(ENTRIES, d.entries)[0]


def mac_words(w, d):
    return w.ends(QUESTIONS, d.questions, H, 2)[0], w.ends(ENTRIES, d.entries, H, 2)[0]


def memn2n_words(w, d):
    return [w.words(q) for q in d.questions], [w.words(entry) for entry in d.entries]


def dmn_words(w, d):
    name = "encoder.question.rnn_model"
    return [w.gru(name, w.words(q), H) for q in d.questions], [w.words(x) for x in d.entries]


# The states in which each network reads the words of questions and of entries; the decoder's score,
# or conv; its name.
CASES = {
    "lf": ("lf", lf_words, "bilinear", "decoder"),
    "hre": ("hre", hre_words, "bilinear", "decoder"),
    "mac": ("mac", mac_words, "bilinear", "decoder"),
    "memn2n": ("memn2n", memn2n_words, "bilinear", "decoder"),
    "dmn": ("dmn", dmn_words, "bilinear", "decoder"),
    "mn-both": ("mn", mn_words, "additive", "gen_decoder"),
    "memn2n-dot": ("memn2n", memn2n_words, "dot", "decoder"),
    "memn2n-scaled": ("memn2n", memn2n_words, "scaled", "decoder"),
    "memn2n-product": ("memn2n", memn2n_words, "product", "decoder"),
    "lf-conv": ("lf", lf_words, "conv", "decoder"),
    "mac-conv": ("mac", mac_words, "conv", "gen_decoder"),
    "memn2n-conv": ("memn2n", memn2n_words, "conv", "decoder"),
    "dialog-transformer": ("dialog-transformer", None, "sequence", None),
}


def scores_of(w, name, kind, s, x):
    if kind == "additive":
        q, k = w.linear(name + ".query", s, H), w.linear(name + ".key", x, H, False)
        return (tanh(q[:, None] + k[None]) @ w.get(name + ".v.weight", 1, H).T)[..., 0]
    if kind == "bilinear":
        return w.linear(name + ".query", s, H, False) @ x.T
    if kind == "product":
        return w.linear(name, s[:, None] * x[None], 1, False)[..., 0]
    return s @ x.T / (math.sqrt(H) if kind == "scaled" else 1)


def lstm_from(w, name, x, e):
    """States of the upper of two layers, both of which start from e."""
    for layer in range(2):
        wi = w.get(f"{name}.weight_ih_l{layer}", 4 * H, x.shape[1])
        wh = w.get(f"{name}.weight_hh_l{layer}", 4 * H, H)
        bias = w.get(f"{name}.bias_ih_l{layer}", 4 * H) + w.get(f"{name}.bias_hh_l{layer}", 4 * H)
        h, c, states = e, torch.zeros(H, dtype=torch.float64), []
        for row in x:
            i, f, g, o = (wi @ row + wh @ h + bias).chunk(4)
            c = sigmoid(f) * c + sigmoid(i) * tanh(g)
            h = sigmoid(o) * tanh(c)
            states.append(h)
        x = torch.stack(states)
    return x


def conv_states(w, name, read, e, x, source):
    """What the words are made of (Gehring et al. 2017): e the encoder's vector, x and the words
    `source` what is looked at."""
    half, words = math.sqrt(0.5), w.words(source)
    g = w.words(read) + w.get(name + "place.weight", 20, E)[:len(read)]
    y = w.linear(name + "in", g + w.linear(name + "state", e, E), H)
    for layer in range(3):
        part = f"{name}{layer}."
        before = torch.cat([torch.zeros(2, H, dtype=torch.float64), y])
        taken = torch.cat([before[:-2], before[1:-1], y], 1)
        left, gate = w.linear(part + "conv", taken, 2 * H).chunk(2, 1)
        a = left * sigmoid(gate)
        d = (w.linear(part + "in", a, E) + g) * half
        o = math.sqrt(len(x)) * (softmax(d @ x.T, 1) @ ((x + words) * half))
        y = ((w.linear(part + "out", o, H) + a) * half + y) * half
    return w.linear(name + "out", y, H)


def answer_logs(w, decoder, kind, e, x, source, answer):
    """log P of the answer's words and of </S>, one after the other."""
    name = decoder + ".attention."
    read, said = torch.tensor([START, *answer]), torch.tensor([*answer, END])
    if kind == "conv":
        out = conv_states(w, decoder + ".conv.", read, e, x, source)
        p = softmax(w.linear(decoder + ".lstm_to_words", out, V), 1)
        return torch.log(p[torch.arange(len(said)), said])
    s = lstm_from(w, decoder + ".answer_rnn", w.words(read), e)
    a = softmax(scores_of(w, name + "score", kind, s, x), 1)
    out = tanh(w.linear(name + "out", torch.cat([s, a @ x], 1), H))
    p = softmax(w.linear(decoder + ".lstm_to_words", out, V), 1)
    return torch.log(p[torch.arange(len(said)), said])


def sequence_states(w, d, text):
    """LN(x) of a text's words behind the regions."""
    x, seen = dialog_tokens(w, d, text)
    for layer in range(STEPS):
        x = transformer_layer(w, x, seen, f"encoder.layers.{layer}.")[0]
    return norm(w, "encoder.norm", x)[-len(text):]


def sequence_logs(w, d, text, answer):
    """The same where the text goes on with the answer; every answer in a pass of its own."""
    said = torch.tensor([*answer, END])
    y = sequence_states(w, d, torch.cat([text, torch.tensor([START, *answer])]))[len(text):]
    p = softmax(y @ w.get("encoder.word_embed.weight", V, E).T, 1)
    return torch.log(p[torch.arange(len(said)), said])


def dialog_logs(w, case, d, answers):
    """For each question the log-probabilities of each of its candidates."""
    network, words, kind, decoder = case
    if kind == "sequence":
        texts = [torch.cat([*d.entries[:t + 1], d.questions[t]]) for t in range(R)]
        e = torch.stack([sequence_states(w, d, text)[-1] for text in texts])
        return e, [[sequence_logs(w, d, text, answer) for answer in row]
                   for text, row in zip(texts, answers)]
    e, (questions, entries) = run(network, w, d), words(w, d)
    out = []
    wide = E if kind == "conv" else H
    for t in range(R):
        x = torch.cat([w.linear(decoder + ".attention.history", torch.cat(entries[:t + 1]), wide),
                       w.linear(decoder + ".attention.question", questions[t], wide)])
        source = torch.cat([*d.entries[:t + 1], d.questions[t]])
        out.append([answer_logs(w, decoder, kind, e[t], x, source, answer)
                    for answer in answers[t]])
    return e, out


def candidates(random):
    """Answers of 0 to 2 words, and which of them each question has."""
    answers = [random.integers(4, V, n).tolist() for n in (1, 2, 0, 1, 2, 2)]
    option = numpy.stack([random.permutation(U)[:O] for _ in range(B * R)])
    return answers, option, random.integers(0, O, B * R)


def make():
    out = inputs()
    dialogs = dialogs_of(out)
    answers, option, truth = candidates(numpy.random.default_rng(8))
    rows = numpy.zeros((U, TO))
    for row, answer in zip(rows, answers):
        row[:len(answer) + 2] = [START, *answer, END]
    out.update({"opt": rows, "opt_len": numpy.array([len(a) + 2 for a in answers]),
                "option": option, "truth": truth})
    for seed, (name, case) in enumerate(CASES.items()):
        w = Weights(100 + seed)
        results = [dialog_logs(w, case, d, [[answers[i] for i in row]
                                            for row in option[b * R:b * R + R]])
                   for b, d in enumerate(dialogs)]
        logs = [question for result in results for question in result[1]]
        loss = -torch.cat([row[t] for row, t in zip(logs, truth)]).mean()
        loss.backward()
        out[f"{name}/e"] = torch.cat([r[0] for r in results]).detach().numpy()
        out[f"{name}/loss"] = loss.detach().numpy().reshape(1)
        out[f"{name}/scores"] = torch.stack([torch.stack([a.mean() for a in row])
                                             for row in logs]).detach().numpy()
        w.write(name, out)
    return {name: numpy.asarray(value, numpy.float32) for name, value in out.items()}


if __name__ == "__main__":
    import sys

    from networks import main
    sys.exit(main(FILE, make))
