#!/usr/bin/env python3
"""The networks on the tape once more, in plain PyTorch, from their formulas, one dialog at a time and
in double precision: their twins, and the golden numbers of tests/golden/test_networks.c.

    python3 tests/golden/networks.py [--check]

writes tests/golden/data/networks.safetensors, or compares what it would write with what is there.
For each network: its weights, e of a small batch, the attentions by name and index, and the gradient
of the sum of e times the weights in `share`."""
import json
import math
import os
import struct
import sys

import numpy
import torch

B, R, P, D, V, E, H, TQ, TH, STEPS, HEADS = 2, 3, 4, 5, 15, 4, 6, 4, 6, 2, 2
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "networks.safetensors")
tanh, sigmoid, softmax = torch.tanh, torch.sigmoid, torch.softmax


def elu(x):
    return torch.where(x > 0, x, torch.exp(x.clamp(max=0)) - 1)


class Weights:
    """Parameters by name, made when they are first asked for."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.all = {}

    def get(self, name, *shape):
        if name not in self.all:
            numbers = self.random.normal(0, 0.4, shape).astype(numpy.float32).astype(numpy.float64)
            if name == "encoder.word_embed.weight":
                numbers[0] = 0
            self.all[name] = torch.tensor(numbers, requires_grad=True)
        assert tuple(self.all[name].shape) == shape, name
        return self.all[name]

    def linear(self, name, x, out, bias=True):
        y = x @ self.get(name + ".weight", out, x.shape[-1]).T
        return y + self.get(name + ".bias", out) if bias else y

    def lstm(self, name, x, hidden, layers=2, directions=1):
        """States (T, directions hidden); PyTorch's gate order i, f, g, o."""
        for layer in range(layers):
            out = []
            for d in range(directions):
                end = f"_l{layer}" + ("_reverse" if d else "")
                wi = self.get(f"{name}.weight_ih{end}", 4 * hidden, x.shape[1])
                wh = self.get(f"{name}.weight_hh{end}", 4 * hidden, hidden)
                bi = self.get(f"{name}.bias_ih{end}", 4 * hidden)
                bh = self.get(f"{name}.bias_hh{end}", 4 * hidden)
                h = c = torch.zeros(hidden, dtype=torch.float64)
                states = [None] * len(x)
                for t in (range(len(x) - 1, -1, -1) if d else range(len(x))):
                    i, f, g, o = (wi @ x[t] + wh @ h + bi + bh).chunk(4)
                    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
                    h = states[t] = sigmoid(o) * tanh(c)
                out.append(torch.stack(states))
            x = torch.cat(out, 1)
        return x

    def gru(self, name, x, hidden, layers=1, directions=1):
        """States (T, directions hidden); PyTorch's gate order r, z, n."""
        for layer in range(layers):
            out = []
            for d in range(directions):
                end = f"_l{layer}" + ("_reverse" if d else "")
                wi = self.get(f"{name}.weight_ih{end}", 3 * hidden, x.shape[1])
                wh = self.get(f"{name}.weight_hh{end}", 3 * hidden, hidden)
                bi = self.get(f"{name}.bias_ih{end}", 3 * hidden)
                bh = self.get(f"{name}.bias_hh{end}", 3 * hidden)
                h = torch.zeros(hidden, dtype=torch.float64)
                states = [None] * len(x)
                for t in (range(len(x) - 1, -1, -1) if d else range(len(x))):
                    (xr, xz, xn), (hr, hz, hn) = (wi @ x[t] + bi).chunk(3), (wh @ h + bh).chunk(3)
                    z = sigmoid(xz + hz)
                    h = states[t] = (1 - z) * tanh(xn + sigmoid(xr + hr) * hn) + z * h
                out.append(torch.stack(states))
            x = torch.cat(out, 1)
        return x

    def words(self, ids):
        return self.get("encoder.word_embed.weight", V, E)[ids]

    def ends(self, name, texts, width=H, directions=1, also=None, layers=2):
        """Word states of texts, and their sentence vectors."""
        states = [self.lstm(name, self.words(t) if also is None else also(self.words(t)),
                            width // directions, layers, directions) for t in texts]
        half = width // directions
        last = [torch.cat([s[-1, :half], s[0, half:]]) if directions == 2 else s[-1]
                for s in states]
        return states, torch.stack(last)

    def write(self, name, out):
        for parameter, value in self.all.items():
            out[f"{name}/{parameter}"] = value.detach().numpy()
            if value.grad is None:
                continue
            out[f"{name}/grad.{parameter}"] = value.grad.numpy()
            if parameter == "encoder.word_embed.weight":
                out[f"{name}/grad.{parameter}"][0] = 0  # the pad row is never updated


class Dialog:
    def __init__(self, image, questions, entries):
        self.raw = image[(image != 0).any(1)]
        self.regions = self.raw / self.raw.norm(dim=0).clamp(min=1e-12)
        mean = self.raw.mean(0)
        self.picture = (mean / mean.norm().clamp(min=1e-12)).expand(R, D)
        self.questions, self.entries = questions, entries


QUESTIONS, ENTRIES = "encoder.ques_rnn.rnn_model", "encoder.hist_rnn.rnn_model"


def strung(w, d):
    states = w.lstm(ENTRIES, w.words(torch.cat(d.entries)), H)
    return states[torch.tensor([len(e) for e in d.entries]).cumsum(0) - 1]


def causal(scores):
    seen = torch.ones(R, R, dtype=torch.bool).tril()
    return softmax(scores.masked_fill(~seen, -math.inf), 1)


def additive(w, name, x, y):
    q, k = w.linear(name + ".query", x, H), w.linear(name + ".key", y, H, False)
    return (tanh(q[:, None] + k[None]) @ w.get(name + ".v.weight", 1, H).T)[..., 0]


def bilinear(w, name, x, y):
    return w.linear(name + ".query", x, H, False) @ y.T


def summed(w, name, x, y):
    return w.linear(name + ".query", x, 1) + w.linear(name + ".key", y, 1, False).T


def glimpse(w, d, u):
    y = tanh(w.linear("encoder.regions.image", d.regions, H))
    p = softmax(additive(w, "encoder.regions.score", u, y), 1)
    return tanh(w.linear("encoder.regions.out", p @ y + u, H)), p


def lf(w, d):
    q, g = w.ends(QUESTIONS, d.questions)[1], strung(w, d)
    return tanh(w.linear("encoder.fusion", torch.cat([q, d.picture, g], 1), H)), {}


def lf_att(w, d):
    q, g = w.ends(QUESTIONS, d.questions)[1], strung(w, d)
    e, p = glimpse(w, d, tanh(w.linear("encoder.fusion", torch.cat([q, g], 1), H)))
    return e, {"regions.0": p}


def lf_bu(w, d):
    g, q = strung(w, d), w.ends(QUESTIONS, d.questions)[1]
    y = w.linear("encoder.image_features_projection", d.regions, H)
    scores = w.linear("encoder.attention_proj", q[:, None] * y[None], 1)[..., 0]
    p = softmax(scores, 1)
    joined = torch.cat([p @ d.regions, q, g], 1)
    return tanh(w.linear("encoder.fusion", joined, H)), {"regions.0": p}


def hre_parts(w, d):
    i = w.linear("encoder.image", d.picture[0], E)
    q = w.ends(QUESTIONS, d.questions,
               also=lambda x: torch.cat([x, i.expand(len(x), E)], 1))[1]
    return q, w.ends(ENTRIES, d.entries)[1]


def rounds_of(w, x):
    return w.lstm("encoder.dialog.rnn_model", x, H, 1)


def hre(w, d):
    q, h = hre_parts(w, d)
    return rounds_of(w, torch.cat([q, h], 1)), {}


def hrea(w, d, score=additive):
    q, h = hre_parts(w, d)
    a = causal(score(w, "encoder.rounds.score", q, h))
    return rounds_of(w, torch.cat([a @ h, q], 1)), {"rounds.0": a}


def look_back(w, d, u):
    h = w.ends(ENTRIES, d.entries)[1]
    a = causal(u @ h.T)
    recalled = tanh(w.linear("encoder.memory", a @ h, H))
    return tanh(w.linear("encoder.out", recalled + u, H)), a


def mn(w, d):
    q = w.ends(QUESTIONS, d.questions)[1]
    e, a = look_back(w, d, tanh(w.linear("encoder.fuse", torch.cat([q, d.picture], 1), H)))
    return e, {"rounds.0": a}


def mn_att(w, d):
    u, a = look_back(w, d, w.ends(QUESTIONS, d.questions)[1])
    e, p = glimpse(w, d, u)
    return e, {"rounds.0": a, "regions.0": p}


# ---- text encoders: the sentence vectors of texts, and what they show ------------------------------

def lstm(w, name, texts):
    return w.ends(name + ".rnn_model", texts)[1], {}


def bilstm(w, name, texts):
    return w.ends(name + ".rnn_model", texts, directions=2)[1], {}


def gru(w, name, texts):
    return torch.stack([w.gru(name + ".rnn_model", w.words(t), H, 2)[-1] for t in texts]), {}


def pooled(w, name, states, shown):
    """Sentences of the states of each text, and the shares of a question's words."""
    pool = w.get(name + ".text.pool.weight", 1, H)[0]
    shares = [softmax(s @ pool, 0) for s in states]
    if shown:
        shown = {"own-words.0": torch.stack([torch.nn.functional.pad(b, (0, TQ - len(b)))
                                             for b in shares])}
    return torch.stack([b @ s for b, s in zip(shares, states)]), shown or {}


def sinusoid(count, width):
    i = torch.arange(width)
    angle = torch.arange(count, dtype=torch.float64)[:, None] / 10000 ** ((i - i % 2) / width)
    return torch.where(i % 2 == 1, torch.cos(angle), torch.sin(angle))


def norm(w, name, x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], w.get(name + ".weight", x.shape[-1]),
                                          w.get(name + ".bias", x.shape[-1]), 1e-5)


def all_rows(scores):
    return softmax(scores, 1)


def heads_find(w, name, x, y, attend=all_rows, out=H):
    """What rows x find in rows y, and the attention of each head."""
    q, k, v = (w.linear(f"{name}.{part}", rows, H, False)
               for part, rows in (("query", x), ("key", y), ("value", y)))
    mixed, shares = [], []
    for head in range(HEADS):
        at = slice(head * H // HEADS, (head + 1) * H // HEADS)
        shares.append(attend(q[:, at] @ k[:, at].T / math.sqrt(H / HEADS)))
        mixed.append(shares[-1] @ v[:, at])
    return w.linear(name + ".out", torch.cat(mixed, 1), out, False), shares


def multi_head(w, name, x):
    return heads_find(w, name, x, x)[0]


def ffn(w, name, x, inner):
    return w.linear(name + ".2", torch.relu(w.linear(name + ".1", x, inner)), H)


def transformer_states(w, name, x):
    y = math.sqrt(H) * w.linear(name + ".in", x, H) + sinusoid(len(x), H)
    for layer in range(2):
        at = f"{name}.{layer}."
        y = norm(w, at + "norm1", y + multi_head(w, at + "attention", y))
        y = norm(w, at + "norm2", y + ffn(w, at + "ffn", y, 4 * H))
    return y


def glu(w, name, x, out, dilation=1):
    def at(shift):
        moved = torch.zeros_like(x)
        for i in range(len(x)):
            if 0 <= i + shift < len(x):
                moved[i] = x[i + shift]
        return moved
    a, b = w.linear(name, torch.cat([at(-dilation), x, at(dilation)], 1), 2 * out).chunk(2, 1)
    return a * sigmoid(b)


def convs2s_states(w, name, x):
    y = w.linear(name + ".in", x + w.get(name + ".place.weight", 512, E)[:len(x)], H)
    for layer in range(6):
        y = (glu(w, f"{name}.{layer}.conv", y, H) + y) * math.sqrt(0.5)
    return w.linear(name + ".out", y, H)


def gldr_states(w, name, x):
    y = glu(w, name + ".in", x, H)
    for layer in range(4):
        inner = glu(w, f"{name}.{layer}.conv1", y, H, 2 ** layer)
        y = y + glu(w, f"{name}.{layer}.conv2", inner, H, 2 ** layer)
    return y


def qanet_states(w, name, x):
    y = w.linear(name + ".in", x, H) + sinusoid(len(x), H)
    for layer in range(4):
        at = f"{name}.{layer}."
        wide = torch.nn.functional.pad(norm(w, at + "norm", y), (0, 0, 3, 3))
        kernel = w.get(at + "depthwise.weight", 1, 7 * H).reshape(7, H)
        near = sum(kernel[i] * wide[i:i + len(y)] for i in range(7))
        y = y + torch.relu(w.linear(at + "pointwise", near, H))
    at = name + ".4."
    y = y + multi_head(w, at + "attention", norm(w, at + "norm1", y))
    return y + ffn(w, at + "ffn", norm(w, at + "norm2", y), H)


def pooled_of(states):
    def read(w, name, texts):
        all_states = [states(w, name + ".text", w.words(t)) for t in texts]
        return pooled(w, name, all_states, name in ("encoder.ques_rnn", "encoder.question"))
    return read


def mn_att_of(read):
    """mn-att with another text encoder."""
    def build(w, d):
        q, shown = read(w, "encoder.ques_rnn", d.questions)
        h = read(w, "encoder.hist_rnn", d.entries)[0]
        a = causal(q @ h.T)
        u = tanh(w.linear("encoder.out", tanh(w.linear("encoder.memory", a @ h, H)) + q, H))
        e, p = glimpse(w, d, u)
        return e, {**shown, "rounds.0": a, "regions.0": p}
    return build


def strung_texts(d):
    """The entries that each question sees, as one text."""
    return [torch.cat(d.entries[:t + 1]) for t in range(R)]


def lf_gldr(w, d):
    read = pooled_of(gldr_states)
    (q, shown), g = (read(w, "encoder.ques_rnn", d.questions),
                     read(w, "encoder.hist_rnn", strung_texts(d))[0])
    return tanh(w.linear("encoder.fusion", torch.cat([q, d.picture, g], 1), H)), shown


# ---- other scores: what x finds in y, and what is shown --------------------------------------------

def by_score(score):
    def find(w, of, x, y, attend):
        a = attend(score(w, f"encoder.{of}.score", x, y))
        return a @ y, {of + ".0": a}
    return find


def heads_shown(of, shares):
    heads = {f"{of}.head.{h}": a for h, a in enumerate(shares)}
    return {**heads, of + ".0": sum(shares) / HEADS}


def by_heads(w, of, x, y, attend):
    found, shares = heads_find(w, f"encoder.{of}.score", x, y, attend)
    return found, heads_shown(of, shares)


def mn_att_by(find):
    def build(w, d):
        q, h = w.ends(QUESTIONS, d.questions)[1], w.ends(ENTRIES, d.entries)[1]
        c, rounds = find(w, "rounds", q, h, causal)
        u = tanh(w.linear("encoder.out", tanh(w.linear("encoder.memory", c, H)) + q, H))
        y = tanh(w.linear("encoder.regions.image", d.regions, H))
        seen, regions = find(w, "regions", u, y, all_rows)
        return tanh(w.linear("encoder.regions.out", seen + u, H)), {**rounds, **regions}
    return build


def lf_bu_by_heads(w, d):
    g, q = strung(w, d), w.ends(QUESTIONS, d.questions)[1]
    y = w.linear("encoder.image_features_projection", d.regions, H)
    v, shares = heads_find(w, "encoder.attention_proj", q, y, out=D)
    e = tanh(w.linear("encoder.fusion", torch.cat([v, q, g], 1), H))
    return e, heads_shown("regions", shares)


def hrea_sum(w, d):
    return hrea(w, d, summed)


def mac_read(w, of, c, m, x):
    name = f"encoder.{of}.read."
    i = w.linear(name + "memory", m, H) * w.linear(name + "key", x, H)
    i = elu(w.linear(name + "mix", i, H) + w.linear(name + "own", x, H, False))
    p = softmax(w.linear(name + "score", elu(c * i), 1, False)[:, 0], 0)
    return p @ x, p


def mac(w, d):
    words, q = w.ends(QUESTIONS, d.questions, H, 2)
    h = w.linear("encoder.rounds.entry", w.ends(ENTRIES, d.entries, H, 2)[1], H)
    k = w.linear("encoder.regions.image.2", elu(w.linear("encoder.regions.image.0", d.raw, H)), H)
    age = w.get("encoder.rounds.age.weight", 64, H)
    out, shown = [], {}
    for t in range(R):
        x = torch.stack([h[r] + age[t - r] for r in range(t + 1)])
        c = w.get("encoder.control.start", 1, H)[0]
        m = w.get("encoder.memory.start", 1, H)[0]
        for i in range(STEPS):
            now = w.linear(f"encoder.control.question.{i}", q[t], H)
            u = w.linear("encoder.control.join", torch.cat([c, now]), H)
            a = softmax(w.linear("encoder.control.score", u * words[t], 1, False)[:, 0], 0)
            c = a @ words[t]
            r, p = mac_read(w, "regions", c, m, k)
            s, b = mac_read(w, "rounds", c, m, x)
            m = w.linear("encoder.memory.write", torch.cat([r, s, m]), H)
            for name, value, room in (("question-words", a, TQ), ("regions", p, P),
                                      ("rounds", b, R)):
                row = torch.zeros(room, dtype=torch.float64)
                row[:len(value)] = value
                shown.setdefault(f"{name}.{i}", []).append(row)
        e = elu(w.linear("encoder.out.0", torch.cat([q[t], m]), H))
        out.append(w.linear("encoder.out.2", e, H))
    return torch.stack(out), {name: torch.stack(rows) for name, rows in shown.items()}


def focus(w, x, h, m, maps):
    z, name = torch.cat([h, m]), "encoder.focus."
    y = w.linear(name + "key", x, H) * (1 + w.linear(name + "scale", z, H))
    y = elu(y + w.linear(name + "shift", z, H) + w.linear(name + "maps", maps, H))
    return sigmoid(w.linear(name + "score", y, 2))


def amem_read(w, d, x, c, m, recalled, collected, chosen):
    z, name = torch.cat([c, m]), "encoder.regions."
    y = w.linear(name + "key", x, H) * (1 + w.linear(name + "scale", z, H))
    y = y + w.linear(name + "shift", z, H)
    y = y + w.linear(name + "maps", torch.cat([recalled, collected[:, None]], 1), H)
    apart = w.linear(name + "difference", d.raw, H, False)
    y = y + (apart - chosen @ apart) * w.linear(name + "direction", z, H)
    s = w.linear(name + "score", elu(w.linear(name + "mix", elu(y), H)), 2)
    return softmax(s[:, 0], 0), sigmoid(s[:, 1])


def amem(w, d):
    words, q = w.ends(QUESTIONS, d.questions, H, 2, layers=1)
    h = w.ends(ENTRIES, d.entries, H, 2, layers=1)[1]
    x = w.linear("encoder.image.2", elu(w.linear("encoder.image.0", d.raw, H)), H)
    x = x + w.linear("encoder.image.straight", d.raw, H)
    age = w.get("encoder.rounds.age.weight", 12, H)
    start = w.get("encoder.memory.start", 1, H)[0]
    nothing = torch.zeros(len(x), dtype=torch.float64)
    alike = torch.full_like(nothing, 1 / len(x))
    unseen = torch.stack([nothing, nothing, nothing, alike], 1)
    maps = [focus(w, x, h[0], start, unseen)]
    out, shown = [], {}
    for t in range(R):
        c, m = w.get("encoder.control.start", 1, H)[0], start
        collected, chosen = nothing, alike
        keys = w.linear("encoder.rounds.key", h[:t + 1], H)
        keys = keys + torch.stack([age[t - r] for r in range(t + 1)])
        for i in range(STEPS):
            now = w.linear(f"encoder.control.question.{i}", q[t], H)
            u = w.linear("encoder.control.join", torch.cat([c, now]), H)
            a = softmax(w.linear("encoder.control.score", u * words[t], 1, False)[:, 0], 0)
            c = a @ words[t]
            y = elu(keys + w.linear("encoder.rounds.query", torch.cat([c, m]), H))
            b = softmax(w.linear("encoder.rounds.score", y, 1, False)[:, 0], 0)
            recalled = sum(share * maps[r] for r, share in enumerate(b))
            chosen, collected = amem_read(w, d, x, c, m, recalled, collected, chosen)
            m = w.linear("encoder.memory.write",
                         torch.cat([chosen @ x, collected @ x, b @ h[:t + 1], m, c]), H)
            for name, value in (("question-words", a), ("regions", chosen), ("rounds", b)):
                shown[f"{name}.{i}"] = value[None]  # of the newest question alone
        e = elu(w.linear("encoder.out.0", torch.cat([q[t], m]), H))
        out.append(w.linear("encoder.out.2", e, H))
        if t + 1 < R:
            seen = torch.cat([recalled, collected[:, None], chosen[:, None]], 1)
            maps.append(focus(w, x, h[t + 1], m, seen))
    return torch.stack(out), shown


def weighed_sum(w, ids, table):
    """l_j o x_j over the words of a sentence."""
    x, n = w.get(table, V, E)[ids], len(ids)
    i = torch.arange(1, E + 1, dtype=torch.float64) - (E + 1) / 2
    j = torch.arange(1, n + 1, dtype=torch.float64) - (n + 1) / 2
    return ((1 + 4 * j[:, None] * i / (E * n)) * x).sum(0)


def memn2n_take(w, texts, read, k):
    """Sentences by the k-th table; read: what a text encoder makes of them, None: word by word."""
    if read is not None:
        return w.linear(f"encoder.memory.words.{k}", read, E, False)
    words = f"encoder.memory.words.{k}.weight" if k else "encoder.word_embed.weight"
    return torch.stack([weighed_sum(w, ids, words) for ids in texts])


def memn2n_tables(w, d, read, k):
    """Entries, their ages and regions, of the k-th set of tables."""
    return (memn2n_take(w, d.entries, read, k),
            w.get(f"encoder.memory.time.{k}.weight", 64, E),
            w.linear(f"encoder.memory.image.{k}", d.regions, E, False))


def memn2n(w, d, adjacent=True, read=None):
    asked, told = (read(w, f"encoder.{name}_rnn", texts)[0] if read else None
                   for name, texts in (("ques", d.questions), ("hist", d.entries)))
    sets = [memn2n_tables(w, d, told, k) for k in range(STEPS + 1 if adjacent else 2)]
    out, shown = [], {}
    for t, u in enumerate(memn2n_take(w, d.questions, asked, 0)):
        for k in range(STEPS):
            (m, time_a, x), (c, time_c, y) = sets[k:k + 2] if adjacent else sets
            p = softmax(torch.stack([(m[r] + time_a[t - r]) @ u for r in range(t + 1)]), 0)
            seen = softmax(x @ u, 0)
            if not adjacent:
                u = w.linear("encoder.memory.between", u, E, False)
            u = u + sum(p[r] * (c[r] + time_c[t - r]) for r in range(t + 1)) + seen @ y
            shown.setdefault(f"rounds.{k}", []).append(torch.cat([p, p.new_zeros(R - t - 1)]))
            shown.setdefault(f"regions.{k}", []).append(seen)
        out.append(tanh(w.linear("encoder.out", u, H)))
    return torch.stack(out), {name: torch.stack(rows) for name, rows in shown.items()}


def memn2n_layer_wise(w, d):
    return memn2n(w, d, False)


def memn2n_lstm(w, d):
    return memn2n(w, d, read=lstm)


def dmn_facts(w, of, x):
    states = w.gru(f"encoder.{of}.rnn_model", x, H, 1, 2)
    return states[:, :H] + states[:, H:]


def dmn_episode(w, of, f, q, m):
    name = f"encoder.memory.{of}."
    z = torch.cat([f * q, f * m, (f - q).abs(), (f - m).abs()], 1)
    s = w.linear(name + "score.2", tanh(w.linear(name + "score.0", z, H)), 1, False)
    g, h = softmax(s[:, 0], 0), torch.zeros(H, dtype=torch.float64)
    for share, fact in zip(g, f):
        xr, xn = w.linear(name + "gru.input", fact, 2 * H).chunk(2)
        hr, hn = w.linear(name + "gru.state", h, 2 * H).chunk(2)
        h = share * tanh(xn + sigmoid(xr + hr) * hn) + (1 - share) * h
    return h, g


def dmn(w, d, read=None):
    if read:
        asked, words = read(w, "encoder.question", d.questions)
        entries = read(w, "encoder.hist_rnn", d.entries)[0]
    else:
        entries = torch.stack([weighed_sum(w, ids, "encoder.word_embed.weight")
                               for ids in d.entries])
    regions = dmn_facts(w, "regions", tanh(w.linear("encoder.regions.image", d.regions, H)))
    out, shown = [], {}
    for t, question in enumerate(d.questions):
        q = asked[t] if read else w.gru("encoder.question.rnn_model", w.words(question), H)[-1]
        m = q
        rounds = dmn_facts(w, "entries", entries[:t + 1])
        for k in range(STEPS):
            c, a = dmn_episode(w, "entries", rounds, q, m)
            seen, p = dmn_episode(w, "regions", regions, q, m)
            m = torch.relu(w.linear(f"encoder.memory.update.{k}", torch.cat([m, c, seen, q]), H))
            shown.setdefault(f"rounds.{k}", []).append(torch.cat([a, a.new_zeros(R - t - 1)]))
            shown.setdefault(f"regions.{k}", []).append(p)
        out.append(tanh(w.linear("encoder.out", torch.cat([m, q]), H)))
    shown = {name: torch.stack(rows) for name, rows in shown.items()}
    return torch.stack(out), {**words, **shown} if read else shown


def dmn_convs2s(w, d):
    return dmn(w, d, pooled_of(convs2s_states))


def flow(w, d, compare):
    """The words of the question, compared with those of the entries and with the regions."""
    words, q = w.ends(QUESTIONS, d.questions, H, 2)
    entries = w.ends(ENTRIES, d.entries, H, 2)[0]
    regions = tanh(w.linear("encoder.regions.image", d.regions, H))
    out, shown = [], {}
    for t in range(R):
        sums = [compare(w, of, x, words[t], shown)
                for of, x in (("history", torch.cat(entries[:t + 1])), ("regions", regions))]
        out.append(tanh(w.linear("encoder.out", torch.cat(sums + [q[t]]), H)))
    return torch.stack(out), {name: padded_rows(rows) for name, rows in shown.items()}


def padded_rows(parts):
    """Rows of several widths below each other."""
    width = max(part.shape[1] for part in parts)
    return torch.cat([torch.nn.functional.pad(part, (0, width - part.shape[1])) for part in parts])


def flow_shown(shown, of, **attentions):
    names = {"looks": {"history": "history-words", "regions": "question-words"},
             "alone": {"history": "words-alone", "regions": "regions-alone"},
             "pooled": {"history": "pooled-words", "regions": "regions"}}
    for kind, rows in attentions.items():
        shown.setdefault(names[kind][of] + ".0", []).append(rows if rows.dim() > 1 else rows[None])


def flow_model(w, of, g, layers):
    name = f"encoder.flow.{of}.model"
    return w.lstm(name, g, H // 2, layers, 2) if of == "history" else w.linear(name, g, H).relu()


def bidaf_compare(w, of, c, u, shown):
    name = f"encoder.flow.{of}."
    triples = torch.cat([c[:, None].expand(-1, len(u), -1), u[None].expand(len(c), -1, -1),
                         c[:, None] * u[None]], 2)
    s = w.linear(name + "score", triples, 1, False)[..., 0]
    a = softmax(s, 1)
    b = softmax(s.max(1)[0], 0)
    g = torch.cat([c, a @ u, c * (a @ u), c * (b @ c)], 1)
    m = flow_model(w, of, g, 2)
    p = softmax(w.linear(name + "pool", torch.cat([g, m], 1), 1, False)[:, 0], 0)
    flow_shown(shown, of, looks=a, alone=b, pooled=p)
    return p @ m


def bidaf(w, d):
    return flow(w, d, bidaf_compare)


def dcn_compare(w, of, c, u, shown):
    name = f"encoder.flow.{of}."
    u = torch.cat([u, w.get(name + "sentinel.question", 1, H)])
    ended = torch.cat([c, w.get(name + "sentinel.context", 1, H)])
    q = tanh(w.linear(name + "question", u, H))
    scores = ended @ q.T
    taken = softmax(scores, 0).T @ ended
    looks = softmax(scores, 1)
    coattention = looks @ torch.cat([q, taken], 1)
    m = flow_model(w, of, torch.cat([c, coattention[:-1]], 1), 1)
    p = softmax(w.linear(name + "pool", m, 1, False)[:, 0], 0)
    flow_shown(shown, of, looks=looks[:-1], pooled=p)
    return p @ m


def dcn(w, d):
    return flow(w, d, dcn_compare)


def heads_of(w, name, y):
    """Rows of numbers, a head each."""
    return w.linear(name, y, E, False).view(len(y), HEADS, E // HEADS).transpose(0, 1)


def transformer_layer(w, x, seen, name):
    y = norm(w, name + "norm1", x)
    q, k, v = (heads_of(w, name + "attention." + part, y) for part in ("query", "key", "value"))
    scores = (q @ k.transpose(1, 2) / math.sqrt(E // HEADS)).masked_fill(~seen, -math.inf)
    found = (softmax(scores, 2) @ v).transpose(0, 1).reshape(len(x), E)
    x = x + w.linear(name + "attention.out", found, E, False)
    inner = w.linear(name + "ffn.1", norm(w, name + "norm2", x), 4 * E)
    inner = inner * (1 + torch.erf(inner / math.sqrt(2))) / 2
    return x + w.linear(name + "ffn.2", inner, E), scores


def dialog_tokens(w, d, text):
    """Regions, then the words of a text; which of them each sees."""
    regions = w.linear("encoder.regions.image", d.raw, E) + w.get("encoder.regions.kind", 1, E)
    words = w.words(text) + w.get("encoder.place.weight", 512, E)[:len(text)]
    x, p = torch.cat([regions, words]), len(regions)
    seen = torch.ones(len(x), len(x), dtype=torch.bool).tril()
    seen[:p, :p] = True
    return x, seen


def dialog_transformer(w, d):
    """Each round by itself: regions, the entries before it, its question."""
    out, shown = [], {}

    def rounds(shares):
        return torch.stack([s.sum() for s in shares.split(entries)])

    for t, question in enumerate(d.questions):
        text = torch.cat(d.entries[:t + 1] + [question])
        entries = [len(e) for e in d.entries[:t + 1]]
        x, seen = dialog_tokens(w, d, text)
        parts = [len(x) - len(text), sum(entries), len(question)]
        rollout = torch.eye(len(x), dtype=torch.float64)
        for l in range(STEPS):
            x, scores = transformer_layer(w, x, seen, f"encoder.layers.{l}.")
            rollout = (softmax(scores, 2).mean(0) @ rollout + rollout) / 2
            looks = [softmax(s, 1).mean(0) for s in scores[:, -1].split(parts, 1)]
            for name, row in (("regions", looks[0]), ("rounds", rounds(looks[1])),
                              ("history-words", looks[1]), ("question-words", looks[2])):
                shown.setdefault(f"{name}.{l}", []).append(row[None])
        made = rollout[-1].split(parts)
        for name, row in (("rollout", made[0]), ("rollout-rounds", rounds(made[1]))):
            shown.setdefault(name + ".0", []).append((row / row.sum())[None])
        out.append(w.linear("encoder.out", norm(w, "encoder.norm", x[-1]), H))
    return torch.stack(out), {name: padded_rows(rows) for name, rows in shown.items()}


def gated(w, name, x):
    """tanh(Wy x + by) * LeakyReLU(Wg x + bg)"""
    y = tanh(w.linear(f"encoder.{name}.1.embed_y.0", x, H))
    return y * torch.nn.functional.leaky_relu(w.linear(f"encoder.{name}.1.embed_g.0", x, H))


def gated_pair(w, name, *parts):
    x = torch.cat(parts, -1)
    return sigmoid(w.linear("encoder." + name, x, x.shape[-1])) * x


def mvan_gru(w, d):
    """MVAN (Park et al. 2021), its texts read by GRUs 2H wide."""
    Q, Hs = ([w.gru(name, w.words(ids), 2 * H, 2) for ids in texts]
             for name, texts in ((QUESTIONS, d.questions), (ENTRIES, d.entries)))
    q, h = (torch.stack([states[-1] for states in texts]) for texts in (Q, Hs))
    at, view, mixed = "context_matching.", "modality_fusion_topic.", "modality_fusion_context."
    scores = gated(w, at + "ques_emb", q)[:, None] * gated(w, at + "hist_emb", h)[None]
    a = causal(w.linear("encoder." + at + "att.1", scores, 1)[..., 0])
    context = gated_pair(w, at + "context_gate.0", q, a @ h)
    fv = gated(w, view + "img_nonlinear_emb", d.regions)
    out, shown = [], {"rounds.0": a, "history-words.0": [], "question-words.0": [], "regions.0": []}
    for t in range(R):
        words, fq = w.words(d.questions[t]), gated(w, "topic_aggregation.ques_emb", Q[t])
        s = [softmax(fq @ gated(w, "topic_aggregation.hist_emb", Hs[r]).T, 1)
             for r in range(t + 1)]
        u = sum(a[t, r] * s[r] @ w.words(d.entries[r]) for r in range(t + 1))
        topic = gated_pair(w, "topic_aggregation.topic_gate.0", words, u)
        looks = softmax(fv @ gated(w, view + "topic_emb", topic).T, 1)
        m = torch.cat([d.regions, looks @ topic], 1)
        m = torch.relu(w.linear("encoder." + view + "MLP.1", m, D + 2 * E))
        m = torch.relu(w.linear("encoder." + view + "MLP.3", m, D))
        y = torch.cat([m, context[t].expand(len(m), -1)], 1)
        z = gated(w, mixed + "mf_emb", y) * gated(w, mixed + "context_matching_emb", context[t])
        z = z / z.norm(dim=1, keepdim=True).clamp(min=1e-12)
        g = softmax(w.linear("encoder." + mixed + "att.1", z, 1)[:, 0], 0)
        out.append(torch.relu(w.linear("encoder.fusion.1", g @ y, H)))
        for name, rows in (("history-words", torch.cat(s, 1)), ("question-words", looks),
                           ("regions", g[None])):
            shown[name + ".0"].append(rows)
    return torch.stack(out), {name: rows if name == "rounds.0" else padded_rows(rows)
                              for name, rows in shown.items()}


NETWORKS = {"lf": lf, "lf-att": lf_att, "lf-bu": lf_bu, "hre": hre, "hrea": hrea, "mn": mn,
            "mn-att": mn_att, "mac": mac, "amem": amem, "memn2n": memn2n,
            "memn2n-layer-wise": memn2n_layer_wise, "dmn": dmn, "bidaf": bidaf, "dcn": dcn}
TEXTS = {"gru": gru, "bilstm": bilstm, "transformer": pooled_of(transformer_states),
         "convs2s": pooled_of(convs2s_states), "gldr": pooled_of(gldr_states),
         "qanet": pooled_of(qanet_states)}
NETWORKS.update({f"mn-att-{name}": mn_att_of(read) for name, read in TEXTS.items()})
NETWORKS["dialog-transformer"] = dialog_transformer
NETWORKS["mvan-gru"] = mvan_gru
NETWORKS.update({"lf-gldr": lf_gldr, "memn2n-lstm": memn2n_lstm, "dmn-convs2s": dmn_convs2s,
                 "hrea-sum": hrea_sum, "mn-att-bilinear": mn_att_by(by_score(bilinear)),
                 "mn-att-multi-head": mn_att_by(by_heads), "lf-bu-multi-head": lf_bu_by_heads})


# What the rows of an attention are long: all that it could look at.
WIDTHS = {"rounds": R, "regions": P, "regions-alone": P, "question-words": TQ, "own-words": TQ, "history-words": TQ,
          "pooled-words": R * TH, "words-alone": R * TH, "rollout": P, "rollout-rounds": R}


def padded(rows, width):
    rows = rows.detach().numpy()
    out = numpy.zeros((rows.shape[0], width))
    out[:, :rows.shape[1]] = rows
    return out


def tokens(random, count, width):
    ids, lengths = numpy.zeros((count, width)), random.integers(1, width + 1, count)
    for row, n in zip(ids, lengths):
        row[:n] = random.integers(1, V, n)
    return ids, lengths


def inputs():
    random = numpy.random.default_rng(4)
    image = random.uniform(0.1, 1, (B, P, D)).astype(numpy.float32).astype(numpy.float64)
    image[1, 3] = 0
    ques, ques_len = tokens(random, B * R, TQ)
    hist, hist_len = tokens(random, B * R, TH)
    share = random.uniform(-1, 1, (B * R, H)).astype(numpy.float32).astype(numpy.float64)
    return {"img": image, "ques": ques, "ques_len": ques_len, "hist": hist, "hist_len": hist_len,
            "share": share}


def dialogs_of(batch):
    texts = [[torch.tensor(row[:n]).long() for row, n in zip(batch[name], batch[name + "_len"])]
             for name in ("ques", "hist")]
    return [Dialog(torch.tensor(batch["img"][b]), *(t[b * R:b * R + R] for t in texts))
            for b in range(B)]


def run(network, w, d):
    """e of a dialog's questions."""
    return NETWORKS[network](w, d)[0]


def make():
    out = inputs()
    dialogs = dialogs_of(out)
    for seed, (name, build) in enumerate(NETWORKS.items()):
        w = Weights(seed)
        results = [build(w, d) for d in dialogs]
        e = torch.cat([r[0] for r in results])
        (e * torch.tensor(out["share"])).sum().backward()
        out[f"{name}/e"] = e.detach().numpy()
        for shown in results[0][1]:
            width = WIDTHS[shown.partition(".")[0]]
            if name in ("mvan-gru", "dialog-transformer") and shown.startswith("history-words"):
                width = R * TH  # they are looked at; elsewhere they look
            width += name == "dcn" and shown in ("history-words.0", "question-words.0")  # nothing
            rows = numpy.concatenate([padded(r[1][shown], width) for r in results])
            out[f"{name}/{shown}"] = numpy.pad(rows, ((0, max(B * R - len(rows), 0)), (0, 0)))
        w.write(name, out)
    return {name: numpy.asarray(value, numpy.float32) for name, value in out.items()}


def bytes_of(tensors):
    header, at = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape),
                        "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(v.tobytes() for v in tensors.values())


def main(path, build):
    data = bytes_of(build())
    if sys.argv[1:] == ["--check"]:
        with open(path, "rb") as file:
            same = file.read() == data
        print("the same" if same else f"{path} differs")
        return 0 if same else 1
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {len(data)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(FILE, make))
