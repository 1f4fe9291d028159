#!/usr/bin/env python3
"""The captioners once more, in plain PyTorch, from their formulas, one caption at a time and in double
precision: their twins, and the golden numbers of tests/golden/test_captions.c.

    python3 tests/golden/captions.py [--check]

writes tests/golden/data/captions.safetensors, or compares what it would write with what is there.
For each captioner: its weights, the logits of a small batch, what heads of the top layer give to the
history, the loss, its gradient, and the losses of ten steps of Adam. For some: loss and gradient of SCST on the
captions that a beam search finds."""
import math
import os
import sys

import numpy
import torch

from networks import Weights as NetworkWeights, main

B, P, V, D, d, E, F, HEADS, LAYERS, WIDTH = 2, 4, 11, 5, 6, 3, 8, 2, 2, 4
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "captions.safetensors")
PICTURE, LENGTH = [0, 0, 1], [3, 0, 4]
softmax = torch.softmax

# name: history, shared, history_norm, awc, smoothing
CASES = {"transformer": ("none", True, False, None, 0.0),
         "smoothed": ("none", True, False, None, 0.1),
         "complete": ("complete", True, False, None, 0.0),
         "past": ("past", True, False, None, 0.0),
         "only": ("only", True, False, None, 0.0),
         "now": ("now", True, False, None, 0.0),
         "light": ("light", True, False, None, 0.0),
         "unshared": ("complete", False, False, None, 0.0),
         "normalised": ("complete", True, True, None, 0.0),
         "fixed": ("complete", True, False, 0.3, 0.0),
         "learnt": ("complete", False, True, "learnt", 0.1)}
# name: history, awc, smoothing, tau (0: words / regions)
SAT = {"sat": ("none", None, 0.0, 1.0), "sat-fit": ("none", None, 0.1, 0.0),
       "sat-complete": ("complete", "learnt", 0.0, 1.0), "sat-past": ("past", None, 0.0, 0.0),
       "sat-only": ("only", None, 0.0, 1.0), "sat-now": ("now", 0.4, 0.0, 1.0)}

SCST = {"transformer": "mean", "learnt": "greedy", "sat-complete": "others"}  # baselines


class Weights(NetworkWeights):
    def norm(self, name, x):
        mean, spread = x.mean(-1, keepdim=True), x.var(-1, unbiased=False, keepdim=True)
        return (x - mean) / (spread + 1e-5).sqrt() * self.get(name + ".weight", d) + \
            self.get(name + ".bias", d)

    def embed(self, ids):
        return self.get("word_embed.weight", V, d)[ids]


def attention(w, name, q, y, seen=None):
    """MHA(q, y) and its shares (h, rows, rows of y)."""
    heads = [w.linear(f"{name}.{part}", x, d).view(-1, HEADS, d // HEADS).transpose(0, 1)
             for part, x in (("q", q), ("k", y), ("v", y))]
    scores = heads[0] @ heads[1].transpose(1, 2) / math.sqrt(d // HEADS)
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    a = softmax(scores, -1)
    return w.linear(name + ".o", (a @ heads[2]).transpose(0, 1).reshape(-1, d), d), a


def feed_forward(w, name, x, norm):
    y = torch.relu(w.linear(name + "ff.fc1", w.norm(name + norm, x), F))
    return x + w.linear(name + "ff.fc2", y, d)


def encode(w, regions):
    x = torch.relu(w.linear("proj", regions, d))
    for l in range(LAYERS):
        name = f"enc.{l}."
        y = w.norm(name + "norm1", x)
        x = x + attention(w, name + "self_attn", y, y)[0]
        x = feed_forward(w, name, x, "norm2")
    return w.norm("enc_norm", x)


def positions(count):
    place, i = torch.arange(count)[:, None].double(), torch.arange(d)[None]
    angle = place / 10000 ** ((i - i % 2).double() / d)
    return torch.where(i % 2 == 1, angle.cos(), angle.sin())


def history_seen(history, t):
    own = torch.arange(t)
    return {"past": own[:, None] > own, "now": own[:, None] == own}.get(
        history, own[:, None] >= own)


def cross(w, name, case, q, m):
    """What a layer adds to q, and what its heads give to the history (T, h)."""
    history, shared, history_norm = case[:3]
    y, t = w.norm(name + "norm2", q), len(q)
    c = q if history == "light" else q + attention(w, name + "cross_attn", y, m)[0]
    if history == "none":
        return c, None
    if history_norm:
        c = w.norm(name + "history_norm", c)
    seen = torch.cat([torch.full((t, len(m)), history != "only"), history_seen(history, t)], 1)
    second = name + ("cross_attn" if shared else "cross_attn2")
    found, a = attention(w, second, y, torch.cat([m, c]), seen)
    return q + found, a[:, :, len(m):].sum(2).T


def decode(w, case, m, words):
    t = len(words)
    x = math.sqrt(d) * w.embed(words) + positions(t)
    causal, given = torch.ones(t, t, dtype=torch.bool).tril(), []
    for l in range(LAYERS):
        name = f"dec.{l}."
        y = w.norm(name + "norm1", x)
        x, share = cross(w, name, case, x + attention(w, name + "self_attn", y, y, causal)[0], m)
        given.append(share)
        x = feed_forward(w, name, x, "norm3")
    return w.linear("out", w.norm("dec_norm", x), V), given


def sat_scores(w, keys, u):
    v = w.get("att.score.weight", 1, F)
    return (torch.tanh(keys + u) @ v.T)[:, 0]


def sat(w, case, regions, words):
    """Logits of all words, shares of the regions (T, K), what the history got (T, 1) or None."""
    history = case[0]
    x = torch.relu(w.linear("proj", regions, d))
    h, c = (torch.tanh(w.linear(name, x.mean(0), d)) for name in ("init_h", "init_c"))
    embed = w.get("word_embed.weight", V, E)
    logits, shares, given, contexts = [], [], [], []
    for t, word in enumerate(words):
        u = w.linear("att.hidden", h, F, False)
        gate = torch.sigmoid(h @ w.get("gate.weight", 1, d).T + w.get("gate.bias", 1))
        a = softmax(sat_scores(w, w.linear("att.region", x, F), u), 0)
        z = a @ x
        shares.append(a)
        if history != "none":
            contexts.append(z)
            seen = {"past": contexts[:t], "now": contexts[t:]}.get(history, contexts)
            rows = ([] if history == "only" else [x]) + ([torch.stack(seen)] if seen else [])
            rows = torch.cat(rows)
            both = softmax(sat_scores(w, w.linear("att.region", rows, F), u), 0)
            given.append(both[len(both) - len(seen):].sum().reshape(1))
            z = both @ rows
        z = gate * z
        gates = torch.cat([embed[word], z]) @ w.get("lstm.weight_ih", 4 * d, E + d).T + \
            w.get("lstm.bias_ih", 4 * d) + h @ w.get("lstm.weight_hh", 4 * d, d).T + \
            w.get("lstm.bias_hh", 4 * d)
        i, f, g, o = gates.chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        n = torch.tanh(embed[word] + w.linear("deep.h", h, E) + w.linear("deep.z", z, E, False))
        logits.append(w.linear("out", n, V))
    return torch.stack(logits), torch.stack(shares), torch.stack(given) if given else None


def sat_loss(w, case, data):
    total, logits, top = 0, [], []
    for c, n in enumerate(LENGTH):
        image = torch.tensor(data["img"][PICTURE[c]])
        said = torch.tensor(data["words"][c][:n]).long()
        image = image[(image != 0).any(1)]
        z, a, given = sat(w, case, image, torch.cat([torch.tensor([1]), said]))
        targets = torch.cat([said, torch.tensor([2])])
        total = total - (smoothed_targets(targets, case[2]) * torch.log_softmax(z, 1)).sum()
        tau = case[3] if case[3] else (n + 1) / len(image)
        total = total + ((tau - a.sum(0)) ** 2).sum()
        if case[1] is not None:
            beta = w.get("awc.beta", 1, 1)[0] if case[1] == "learnt" else case[1]
            total = total + 0.5 * ((given - beta) ** 2).mean()
        logits.append(z)
        top.append(given)
    return total / len(LENGTH), torch.cat(logits), torch.cat(top) if case[0] != "none" else None


def smoothed_targets(targets, smoothing):
    q = torch.full((len(targets), V), smoothing / (V - 1), dtype=torch.float64)
    q[torch.arange(len(targets)), targets] = 1 - smoothing
    return q


def batch():
    random = numpy.random.default_rng(9)
    image = random.uniform(0.1, 1, (B, P, D)).astype(numpy.float32).astype(numpy.float64)
    image[1, 2] = 0
    words = numpy.zeros((len(LENGTH), WIDTH))
    for row, n in zip(words, LENGTH):
        row[:n] = random.integers(4, V, n)
    return {"img": image, "words": words, "length": numpy.array(LENGTH),
            "picture": numpy.array(PICTURE)}


def loss_of(w, case, data):
    """Loss, logits of all words, what the top layer's heads give to the history."""
    if case in SAT.values():
        return sat_loss(w, case, data)
    total, apart, logits, top, words = 0, 0, [], [], sum(LENGTH) + len(LENGTH)
    for c, n in enumerate(LENGTH):
        image = torch.tensor(data["img"][PICTURE[c]])
        said = torch.tensor(data["words"][c][:n]).long()
        z, given = decode(w, case, encode(w, image[(image != 0).any(1)]),
                          torch.cat([torch.tensor([1]), said]))
        targets = torch.cat([said, torch.tensor([2])])
        total = total - (smoothed_targets(targets, case[4]) * torch.log_softmax(z, 1)).sum() / words
        logits.append(z)
        if given[0] is not None:
            top.append(given[-1])
        for l in range(LAYERS if case[3] is not None else 0):
            beta = w.get("awc.beta", LAYERS, HEADS)[l] if case[3] == "learnt" else case[3]
            apart = apart + ((given[l] - beta) ** 2).sum() / (n + 1)
    total = total + 0.5 / (LAYERS * HEADS * len(LENGTH)) * apart
    return total, torch.cat(logits), torch.cat(top) if top else None


def ten_steps(w, case, data):
    """Losses before steps of Adam, 0.01, (0.9, 0.999), 1e-8; the pad row stays."""
    steps = torch.optim.Adam(w.all.values(), lr=0.01)
    losses = []
    for _ in range(10):
        steps.zero_grad()
        loss = loss_of(w, case, data)[0]
        loss.backward()
        w.all["word_embed.weight"].grad[0] = 0
        losses.append(loss.item())
        steps.step()
    return losses


def logits_of(w, case, image, words):
    """Of what follows <S> and each of the words."""
    read = torch.cat([torch.tensor([1]), torch.tensor(words, dtype=torch.long)])
    if case in SAT.values():
        return sat(w, case, image, read)[0]
    return decode(w, case, encode(w, image), read)[0]


def beam(w, case, image, k, longest=20):
    """The k captions of a beam search; those with </S> end in 2."""
    def is_open(words):
        return len(words) < longest and 2 not in words
    best = [([], 0.0)]
    while any(is_open(words) for words, _ in best):
        found = []
        for words, total in best:
            if not is_open(words):
                found.append((words, total))
                continue
            log = torch.log_softmax(logits_of(w, case, image, words)[-1], 0).tolist()
            found += [(words + [i], total + log[i]) for i in range(V)
                      if i >= 4 or (i == 2 and words)]
        best = sorted(found, key=lambda one: -one[1])[:k]
    return [words for words, _ in best]


def reward(words):
    return sum((7 * word + 3 * t) % 11 for t, word in enumerate(words)) / 10


def baselines(rewards, greedy, kind):
    if kind == "greedy":
        return [greedy] * len(rewards)
    if kind == "mean":
        return [sum(rewards) / len(rewards)] * len(rewards)
    return [(sum(rewards) - r) / (len(rewards) - 1) for r in rewards]


def scst_loss(w, case, data, kind, k=3):
    """-(1 / (B K)) sum (r - b) (1 / 20) sum ln p"""
    total = 0
    for image in torch.tensor(data["img"]):
        image = image[(image != 0).any(1)]
        with torch.no_grad():
            said, greedy = beam(w, case, image, k), beam(w, case, image, 1)[0]
        rewards = [reward(words) for words in said]
        for words, r, b in zip(said, rewards, baselines(rewards, reward(greedy), kind)):
            log = torch.log_softmax(logits_of(w, case, image, words), 1)
            total = total - (r - b) / (B * k * 20) * log[torch.arange(len(words)), words].sum()
    return total


def add_scst(out, data, name, case, kind, w):
    for value in w.all.values():
        value.grad = None
    loss = scst_loss(w, case, data, kind)
    loss.backward()
    out[f"scst-{name}/loss"] = loss.detach().numpy()
    for key, value in w.all.items():
        if value.grad is not None:
            out[f"scst-{name}/grad.{key}"] = value.grad.numpy().copy()


def make():
    out = batch()
    data = dict(out)
    for seed, (name, case) in enumerate({**CASES, **SAT}.items()):
        w = Weights(seed)
        loss, logits, top = loss_of(w, case, data)
        loss.backward()
        out[f"{name}/loss"], out[f"{name}/logits"] = loss.detach().numpy(), logits.detach().numpy()
        if top is not None:
            out[f"{name}/given"] = top.detach().numpy()
        w.write(name, out)
        if name in SCST:
            add_scst(out, data, name, case, SCST[name], w)
        out = {key: numpy.array(value) for key, value in out.items()}
        out[f"{name}/steps"] = ten_steps(w, case, data)
    return {name: numpy.atleast_1d(numpy.asarray(value, numpy.float32))
            for name, value in out.items()}


if __name__ == "__main__":
    sys.exit(main(FILE, make))
