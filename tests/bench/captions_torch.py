#!/usr/bin/env python3
"""The training step of the Transformer captioner, of CAT and of LightCAT in PyTorch: PyTorch's half of
bench_captioner. tests/golden/captions.py has the same formulas one caption at a time.

    captions_torch.py --batch F [--threads N]    F: image (B, P, D), words (C, T), length (C), C / B
                                                 captions a picture; a line on stdin, two numbers on
                                                 stdout:

    load HISTORY HEADS MODEL RATE DROPOUT CLIP   0 0; HISTORY: none, complete or light
    step FORM                                    wall and CPU time of a training step in ms
    learn FORM                                   a step's loss, and the norm of its gradient

FORM: plain, the formulas as usually written; or tuned, which gives the same: PyTorch's own
attention, keys and values of regions once a picture, only real words reach the vocabulary. Both
encode a picture once, whatever its captions.
"""
import argparse
import math
import os
import sys
import time

import torch
import torch.nn.functional as F

from mvan_torch import read_safetensors
from networks_torch import adam

START, END = 1, 2


class Plain:
    def __init__(self, weights, history, heads, dropout):
        self.w = {name: torch.nn.Parameter(x.float().clone()) for name, x in weights.items()}
        self.history, self.heads, self.rate = history, heads, dropout
        self.d = self.w["word_embed.weight"].size(1)
        self.layers = sum(name.endswith("norm3.weight") for name in self.w)

    def drop(self, x):
        return F.dropout(x, self.rate)

    def linear(self, name, x):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def norm(self, name, x):
        return F.layer_norm(x, (self.d,), self.w[name + ".weight"], self.w[name + ".bias"])

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys(self, name, y):
        return self.linear(name + ".k", y), self.linear(name + ".v", y)

    def attend(self, q, k, v, mask):
        score = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
        if mask is not None:
            score = score.masked_fill(~mask, -math.inf)
        return self.drop(score.softmax(-1)) @ v

    def look(self, name, q, keys, mask=None):
        y = self.attend(self.split(q), *map(self.split, keys), mask)
        return self.drop(self.linear(name + ".o", y.transpose(1, 2).flatten(2)))

    def feed_forward(self, name, norm, x):
        y = self.drop(F.relu(self.linear(name + ".ff.fc1", self.norm(name + norm, x))))
        return x + self.drop(self.linear(name + ".ff.fc2", y))

    def encode(self, image):
        x = self.drop(F.relu(self.linear("proj", image)))
        for l in range(self.layers):
            name = f"enc.{l}"
            y = self.norm(name + ".norm1", x)
            attend = name + ".self_attn"
            x = x + self.look(attend, self.linear(attend + ".q", y), self.keys(attend, y))
            x = self.feed_forward(name, ".norm2", x)
        return self.norm("enc_norm", x)

    def read_memory(self, name, memory, captions):
        """What the attention `name` of every caption's words looks at."""
        return memory.repeat_interleave(captions, 0)

    def region_keys(self, name, regions):
        return self.keys(name, regions)

    def both_keys(self, name, regions, found):
        return self.keys(name, torch.cat([regions, found], 1))

    def cross(self, name, q, regions, seen):
        attend = name + ".cross_attn"
        queries = self.linear(attend + ".q", self.norm(name + ".norm2", q))
        found = q
        if self.history != "light":
            found = q + self.look(attend, queries, self.region_keys(attend, regions))
        if self.history == "none":
            return found
        return q + self.look(attend, queries, self.both_keys(attend, regions, found), seen)

    def decode(self, memory, words, captions):
        t, p = words.size(1), memory.size(1)
        place, i = torch.arange(t)[:, None], torch.arange(self.d)
        angle = place / 10000 ** ((i - i % 2) / self.d)
        x = math.sqrt(self.d) * self.w["word_embed.weight"][words]
        x = self.drop(x + torch.where(i % 2 == 1, angle.cos(), angle.sin()))
        seen = torch.ones(t, p + t, dtype=torch.bool).tril(p)
        for l in range(self.layers):
            name = f"dec.{l}"
            attend = name + ".self_attn"
            y = self.norm(name + ".norm1", x)
            x = x + self.look(attend, self.linear(attend + ".q", y), self.keys(attend, y),
                              seen[:, p:])
            regions = self.read_memory(name + ".cross_attn", memory, captions)
            x = self.feed_forward(name, ".norm3", self.cross(name, x, regions, seen))
        return self.norm("dec_norm", x)

    def cross_entropy(self, y, target):
        return F.cross_entropy(self.linear("out", y).flatten(0, 1), target.flatten(), ignore_index=-1)

    def loss(self, image, words, length):
        t = int(length.max()) + 1
        target = F.pad(words, (0, 1))[:, :t].clone()
        target[torch.arange(t) > length[:, None]] = -1
        target[torch.arange(len(words)), length] = END
        read = torch.cat([torch.full_like(words[:, :1], START), words[:, :t - 1]], 1)
        return self.cross_entropy(self.decode(self.encode(image), read, len(words) // len(image)), target)


class Tuned(Plain):
    def attend(self, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, mask, self.rate)

    def read_memory(self, name, memory, captions):
        return [k.repeat_interleave(captions, 0) for k in self.keys(name, memory)]

    def region_keys(self, name, regions):
        return regions

    def both_keys(self, name, regions, found):
        return [torch.cat(pair, 1) for pair in zip(regions, self.keys(name, found))]

    def cross_entropy(self, y, target):
        kept = target >= 0
        return F.cross_entropy(self.linear("out", y[kept]), target[kept])


class Training:
    def __init__(self, batch):
        tensors = read_safetensors(batch)[1]
        self.batch = tensors["image"], tensors["words"].long(), tensors["length"].long()

    def load(self, history, heads, path, rate, dropout, clip):
        weights = read_safetensors(path)[1]
        self.forms = {form.__name__.lower(): form(weights, history, int(heads), float(dropout))
                      for form in (Plain, Tuned)}
        self.optimisers = {form: adam(captioner.w.values(), float(rate))
                           for form, captioner in self.forms.items()}
        self.clip = float(clip)
        return 0, 0

    def gradient(self, form):
        self.optimisers[form].zero_grad()
        loss = self.forms[form].loss(*self.batch)
        loss.backward()
        return loss

    def change(self, form):
        norm = torch.nn.utils.clip_grad_norm_(self.forms[form].w.values(), self.clip)
        self.optimisers[form].step()
        return norm.item()

    def learn(self, form):
        """The norm in double precision: PyTorch's is 1e-3 too small for the largest matrix."""
        loss = self.gradient(form).item()
        norm = sum(w.grad.double().square().sum().item() for w in self.forms[form].w.values()) ** 0.5
        self.change(form)
        return loss, norm

    def step(self, form):
        cpu, start = time.process_time(), time.perf_counter()
        self.gradient(form).item()
        self.change(form)
        return (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--batch")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    training = Training(options.batch)
    for line in sys.stdin:
        what, *arguments = line.split()
        print("%.9g %.9g" % getattr(training, what)(*arguments), flush=True)


if __name__ == "__main__":
    main()
