#!/usr/bin/env python3
"""The training steps of the networks on the tape in PyTorch (encoders_torch.py), with the decoder
that they share: PyTorch's half of bench_networks.

    networks_torch.py --check F                  hold them to the golden numbers in F
                                                 (tests/golden/data/networks.safetensors)
    networks_torch.py --batch F [--threads N] [--device cuda]
                                                 F: of full_size_write_batch; a line on stdin, two
                                                 numbers on stdout:

    load NETWORK MODEL RATE DROPOUT LSTM_DROPOUT POSITION_DROPOUT    0 0
    step, step-few      wall and CPU time of a training step in ms
    learn, learn-few    a training step's loss, and the norm of its gradient

few: with the same two candidates for every question. The batch is prepared before, as by a data
loader: padded to its longest text, every distinct candidate once.
"""
import argparse
import os
import sys
import time
from fnmatch import fnmatch

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from encoders_torch import ENCODERS, Config, Parts, Strung, Text
from mvan_torch import loss_of, read_safetensors

FEW = 2


# ---- the batch -----------------------------------------------------------------------------------

def text_of(ids, lengths):
    ids, lengths = ids.flatten(0, -2)[:, :lengths.max()], lengths.flatten()
    mask = torch.arange(ids.size(1), device=ids.device) < lengths[:, None]
    return Text(ids, lengths.cpu(), mask)  # where packing reads them


def weigh_places(text, size):
    """1 + 4 (i - (E+1)/2) (j - (J+1)/2) / (E J), i = 1..E, j = 1..J; 0 beyond J."""
    device = text.ids.device
    words = text.lengths[:, None, None].float().to(device)
    up = torch.arange(1, size + 1, device=device) - (size + 1) / 2
    right = torch.arange(1, text.ids.size(1) + 1, device=device)[:, None] - (words + 1) / 2
    return (1 + 4 * up * right / (size * words)) * text.mask[..., None]


def string_dialog(questions, entries):
    """A row of each word: id, place, part (0: the entries, one after the other; t + 1: question t
    where the next entry does not begin with it) and how much of part 0 it sees in any case. Then
    the questions' last words."""
    rows = [(word, place, 0, 0) for place, word in enumerate(sum(entries, []))]
    last, heard = [], 0
    for t, question in enumerate(questions):
        heard, at = heard + len(entries[t]), len(rows)
        if entries[t + 1:] and entries[t + 1][:len(question)] == question:
            at = heard
        else:
            rows += [(word, heard + i, t + 1, heard) for i, word in enumerate(question)]
        last.append(at + len(question) - 1)
    return torch.tensor(rows), torch.tensor(last)


def lists_of(ids, lengths):
    return [[row[:n] for row, n in zip(*both)] for both in zip(ids.tolist(), lengths.tolist())]


class Batch:
    def __init__(self, tensors):
        self.image = tensors["img_feat"]  # (B, P, D)
        self.real = (self.image != 0).any(-1)
        self.dialogs, self.rounds = tensors["ques_len"].shape
        self.each_dialog = torch.arange(self.dialogs, device=self.image.device)[:, None]
        self.questions = text_of(tensors["ques"], tensors["ques_len"])
        self.entries = text_of(tensors["hist"], tensors["hist_len"])
        t = torch.arange(self.rounds, device=self.image.device)
        self.past, self.age = t[:, None] >= t, (t[:, None] - t).clamp(min=0)  # (R, R)
        self.add_history(tensors["hist_len"])
        self.add_dialog(*(lists_of(tensors[name], tensors[name + "_len"])
                          for name in ("ques", "hist")))

    def add_options(self, ids, truth):
        self.truth = truth
        self.few = text_of(ids[0, 0, :FEW], (ids[0, 0, :FEW] != 0).sum(-1))
        distinct, self.option = torch.unique(ids.flatten(0, 2), dim=0, return_inverse=True)
        self.option = self.option.view(ids.shape[:3])
        self.distinct = text_of(distinct, (distinct != 0).sum(-1))

    def add_history(self, lengths):
        """The words of entries 0..t: strung together for a dialog, and for each question where they
        are among those of all padded entries."""
        start = torch.arange(lengths.numel()).view_as(lengths) * self.entries.ids.size(1)
        rows = [torch.cat([torch.arange(a, a + n) for a, n in zip(*both)]).to(lengths.device)
                for both in zip(start.tolist(), lengths.tolist())]
        words = self.entries.ids.flatten()
        self.ends = lengths.cumsum(1)
        self.strung = text_of(pad_sequence([words[r] for r in rows], True), self.ends[:, -1])
        self.seen = text_of(pad_sequence([r[:n] for r, ends in zip(rows, self.ends) for n in ends],
                                         True), self.ends)

    def add_dialog(self, questions, entries):
        """A word sees regions, and words of its part up to itself; padding is a part of its own."""
        rows, last = zip(*map(string_dialog, questions, entries))
        device = self.image.device
        ids, place, part, heard = pad_sequence(rows, True, -1).to(device).unbind(-1)
        earlier = (part[:, None] == part[..., None]) & (place[:, None] <= place[..., None])
        earlier |= (part[:, None] == 0) & (place[:, None] < heard[..., None])
        regions, words = self.real.size(1), ids.size(1)
        sees = torch.cat([self.real[:, None].expand(-1, regions + words, -1),
                          F.pad(earlier, (0, 0, regions, 0))], -1)
        self.dialog = Strung(ids.clamp(min=0), place.clamp(min=0), torch.stack(last).to(device), sees)

    def weigh(self, size):
        self.question_places = weigh_places(self.questions, size)
        self.entry_places = weigh_places(self.entries, size)


# ---- a network -----------------------------------------------------------------------------------

class Network(nn.Module):
    """An encoder and the discriminative decoder: a candidate's vector is its LSTM's last state."""

    def __init__(self, name, c):
        super().__init__()
        self.encoder = ENCODERS[name](c)
        self.decoder = Parts(option_rnn=self.encoder.reader(c.embed, c.hidden))

    def candidates(self, text):
        return self.decoder.option_rnn(self.encoder.words(text))[1]

    def forward(self, batch, few):
        e = self.encoder(batch)
        if few:
            return e @ self.candidates(batch.few).T
        vectors = F.embedding(batch.option, self.candidates(batch.distinct))  # (B, R, O, H)
        return (vectors @ e[..., None])[..., 0]


# Of which there is one a step, a hop or a layer.
HOPS = {"mac": "encoder.control.question.*.weight", "amem": "encoder.control.question.*.weight",
        "memn2n": "encoder.memory.words.*.weight", "dmn": "encoder.memory.update.*.weight",
        "dialog-transformer": "encoder.layers.*.norm1.weight"}


def config_of(name, tensors, region, hidden, **settings):
    vocab, embed = tensors["encoder.word_embed.weight"].shape
    hops = sum(fnmatch(key, HOPS.get(name, "-")) for key in tensors)
    return Config(vocab, embed, hidden, region, hops, **settings)


def take_weights(name, module, tensors):
    parameters = dict(module.named_parameters())
    unlike = parameters.keys() ^ tensors.keys()
    if unlike:
        sys.exit(f"networks_torch: {name}: only one of the two has {', '.join(sorted(unlike))}")
    with torch.no_grad():
        for key, parameter in parameters.items():
            parameter.copy_(tensors[key].view_as(parameter))


# ---- held to the golden numbers ------------------------------------------------------------------

# What tests/golden/networks.py sets.
GOLDEN_HEADS = 2
# Networks with settings that bench_networks does not measure: other text encoders, other memories.
NOT_MEASURED = ("mn-att-*", "memn2n-layer-wise", "mvan-*")


def golden_batch(tensors):
    dialogs = len(tensors["img"])
    batch = {name: tensors[name].long().unflatten(0, (dialogs, -1))
             for name in ("ques", "ques_len", "hist", "hist_len")}
    return Batch({"img_feat": tensors["img"].double(), **batch})


def check_network(name, batch, share, tensors):
    """The largest difference of e and of gradients, as parts of the largest number of each."""
    weights = {key: x for key, x in tensors.items() if key.startswith("encoder.")}
    c = config_of(name, weights, batch.image.size(-1), share.size(-1), heads=GOLDEN_HEADS)
    both = Parts(encoder=ENCODERS[name](c))
    take_weights(name, both, weights)
    batch.weigh(c.embed)
    e = both.encoder(batch).flatten(0, 1)
    (e * share).sum().backward()
    off = [(e - tensors["e"]).abs().max()]
    for key, parameter in both.named_parameters():
        want = tensors["grad." + key].view_as(parameter)
        off.append((parameter.grad - want).abs().max() / want.abs().max().clamp(min=1e-3))
    return max(off).item()


def check_names(tensors):
    """That the golden networks are those of this program, but for what is not measured."""
    golden = {key.split("/")[0] for key in tensors if "/" in key}
    others = {name for name in golden - ENCODERS.keys()
              if any(fnmatch(name, pattern) for pattern in NOT_MEASURED)}
    print(f"not measured, so not checked: {', '.join(sorted(others))}")
    unlike = golden - others ^ ENCODERS.keys()
    if unlike:
        print(f"only golden, or only here: {', '.join(sorted(unlike))}")
    return not unlike


def check(path):
    torch.set_default_dtype(torch.float64)
    _, tensors = read_safetensors(path)
    batch, good = golden_batch(tensors), check_names(tensors)
    for name in (name for name in ENCODERS if f"{name}/e" in tensors):
        own = {key[len(name) + 1:]: x for key, x in tensors.items() if key.startswith(name + "/")}
        off = check_network(name, batch, tensors["share"], own)
        good &= off < 1e-5
        print(f"{name}: off by {off:.1e}")
    print("agrees with the golden numbers" if good else "DOES NOT AGREE")
    return 0 if good else 1


# ---- training ------------------------------------------------------------------------------------

def adam(parameters, rate):
    parameters = list(parameters)
    try:
        return torch.optim.Adam(parameters, lr=rate, fused=True)
    except RuntimeError:  # before 2.4, on the CPU
        return torch.optim.Adam(parameters, lr=rate)


class Training:
    def __init__(self, batch, device):
        tensors = {name: x.to(device) for name, x in read_safetensors(batch)[1].items()}
        self.batch = Batch(tensors)
        self.batch.add_options(tensors["opt"], tensors["gt_index"])
        self.network = self.optimiser = None

    def load(self, name, path, rate, dropout, lstm_dropout, position_dropout):
        _, tensors = read_safetensors(path)
        hidden = tensors["decoder.option_rnn.rnn_model.weight_hh_l0"].size(1)
        self.network = Network(name, config_of(name, tensors, self.batch.image.size(-1), hidden,
                                               dropout=float(dropout),
                                               lstm_dropout=float(lstm_dropout),
                                               position_dropout=float(position_dropout)))
        take_weights(name, self.network, tensors)
        self.network.to(self.batch.image.device)
        self.optimiser = adam(self.network.parameters(), float(rate))
        self.batch.weigh(self.network.encoder.config.embed)
        return 0, 0

    def take_step(self, few):
        truth = self.batch.truth % FEW if few else self.batch.truth
        self.optimiser.zero_grad()
        loss = loss_of(self.network(self.batch, few), truth)
        loss.backward()
        self.optimiser.step()
        return loss.item()

    def step(self, few=False):
        cpu, start = time.process_time(), time.perf_counter()
        self.take_step(few)
        return (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3

    def learn(self, few=False):
        loss = self.take_step(few)
        gradients = [p.grad.norm() for p in self.network.parameters() if p.grad is not None]
        return loss, torch.stack(gradients).norm().item()

    def answer(self, what, *arguments):
        name, _, few = what.partition("-")
        return getattr(self, name)(*(arguments or [few == "few"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check")
    parser.add_argument("--batch")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # float32, as visdial
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    if options.check:
        sys.exit(check(options.check))
    training = Training(options.batch, options.device)
    for line in sys.stdin:
        print("%.9g %.9g" % training.answer(*line.split()), flush=True)


if __name__ == "__main__":
    main()
