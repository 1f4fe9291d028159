#!/usr/bin/env python3
"""MVAN in PyTorch: what a user would run instead of visdial, to measure visdial against.

Works as the public code works: batches padded to the widest, the rounds of a dialog one after the
other, every candidate of every round through the LSTM (sorted by length and packed), autograd.

    mvan_torch.py --check DIR             hold it to the golden numbers in DIR (mvan_*.safetensors)
    mvan_torch.py --model F --batch F     serve timing requests: one word a line on stdin
                                          (question, dialog, train), its wall and CPU time in ms on stdout
    mvan_torch.py --versions              what it runs on

Settings: --device cpu|cuda, --precision float32|tf32|bf16, --threads N.
"""
import argparse
import json
import mmap
import os
import struct
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I32": torch.int32,
          "I64": torch.int64}


def read_safetensors(path):
    """Metadata and tensors (float16 and bfloat16 become float32) of a safetensors file."""
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        kind = DTYPES[entry["dtype"]]
        tensor = torch.frombuffer(bytearray(data[start:end]), dtype=kind).view(entry["shape"])
        tensors[name] = tensor.float() if tensor.is_floating_point() else tensor.long()
    return metadata, tensors


def masked_softmax(score, mask, dim):
    return torch.softmax(score * mask + (mask - 1) * 10000, dim)


class GatedTrans(nn.Sequential):
    """f(x) = tanh(Wy x + by) * g(Wg x + bg)"""

    class Body(nn.Module):
        def __init__(self, size, out, gate):
            super().__init__()
            self.embed_y = nn.Sequential(nn.Linear(size, out), nn.Tanh())
            self.embed_g = nn.Sequential(nn.Linear(size, out), gate)

        def forward(self, x):
            return self.embed_y(x) * self.embed_g(x)

    def __init__(self, size, out, config):
        super().__init__(nn.Dropout(config.dropout), self.Body(size, out, config.gate()))


class DynamicRNN(nn.Module):
    """An LSTM over padded sequences of different lengths."""

    def __init__(self, rnn):
        super().__init__()
        self.rnn_model = rnn

    def forward(self, x, lengths):
        """Word states (N, T, directions H), zero past the length, and the last layer's state."""
        lengths, order = lengths.sort(descending=True)
        back = order.argsort()
        packed = pack_padded_sequence(x[order], lengths.cpu(), batch_first=True)
        states, (last, _) = self.rnn_model(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=x.size(1))
        directions = 2 if self.rnn_model.bidirectional else 1
        return states[back], torch.cat(list(last[-directions:]), -1)[back]


class ContextMatching(nn.Module):
    def __init__(self, config):
        super().__init__()
        h = config.hidden
        self.ques_emb = GatedTrans(2 * h, h, config)
        self.hist_emb = GatedTrans(2 * h, h, config)
        self.att = nn.Sequential(nn.Dropout(config.dropout), nn.Linear(h, 1))
        self.context_gate = nn.Sequential(nn.Linear(4 * h, 4 * h), nn.Sigmoid())

    def forward(self, question, history):  # (B, 2H), (B, r, 2H)
        score = self.att(self.ques_emb(question)[:, None] * self.hist_emb(history)).squeeze(-1)
        share = torch.softmax(score, -1)
        x = torch.cat([question, (share[..., None] * history).sum(1)], -1)
        return self.context_gate(x) * x, share


class TopicAggregation(nn.Module):
    def __init__(self, config):
        super().__init__()
        h, e = config.hidden, config.embed
        self.ques_emb = GatedTrans(2 * h, h, config)
        self.hist_emb = GatedTrans(2 * h, h, config)
        self.topic_gate = nn.Sequential(nn.Linear(2 * e, 2 * e), nn.Sigmoid())

    # (B, Tq, 2H), (B, r, Th, 2H), embeddings (B, Tq, E), (B, r, Th, E), (B, r, Th), (B, r)
    def forward(self, question, history, question_words, history_words, mask, share):
        score = torch.einsum("bih,brjh->brij", self.ques_emb(question), self.hist_emb(history))
        topic = masked_softmax(score, mask[:, :, None], -1)
        gathered = torch.einsum("br,brij,brje->bie", share, topic, history_words)
        x = torch.cat([question_words, gathered], -1)
        return self.topic_gate(x) * x, topic


class TopicView(nn.Module):
    def __init__(self, config):
        super().__init__()
        h, e, d = config.hidden, config.embed, config.region
        self.img_nonlinear_emb = GatedTrans(d, h, config)
        self.topic_emb = GatedTrans(2 * e, h, config)
        self.MLP = nn.Sequential(nn.Dropout(config.dropout), nn.Linear(d + 2 * e, d + 2 * e),
                                 nn.ReLU(), nn.Linear(d + 2 * e, d), nn.ReLU())

    def forward(self, image, topic, mask):  # (B, P, D), (B, Tq, 2E), (B, Tq)
        score = self.img_nonlinear_emb(image) @ self.topic_emb(topic).transpose(1, 2)
        word = masked_softmax(score, mask[:, None], -1)
        return self.MLP(torch.cat([image, word @ topic], -1)), word


class ContextView(nn.Module):
    def __init__(self, config):
        super().__init__()
        h, d = config.hidden, config.region
        self.mf_emb = GatedTrans(d + 4 * h, h, config)
        self.context_matching_emb = GatedTrans(4 * h, h, config)
        self.att = nn.Sequential(nn.Dropout(config.dropout), nn.Linear(h, 1))

    def forward(self, view, context, mask):  # (B, P, D), (B, 4H), (B, P)
        y = torch.cat([view, context[:, None].expand(-1, view.size(1), -1)], -1)
        z = F.normalize(self.mf_emb(y) * self.context_matching_emb(context)[:, None], dim=-1)
        share = masked_softmax(self.att(z).squeeze(-1), mask, -1)
        return (share[..., None] * y).sum(1), share


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        h, e, d = config.hidden, config.embed, config.region
        self.word_embed = nn.Embedding(config.vocab, e, padding_idx=0)
        self.ques_rnn, self.hist_rnn = (
            DynamicRNN(nn.LSTM(e, h, 2, batch_first=True, bidirectional=True,
                               dropout=config.lstm_dropout)) for _ in range(2))
        self.context_matching = ContextMatching(config)
        self.topic_aggregation = TopicAggregation(config)
        self.modality_fusion_topic = TopicView(config)
        self.modality_fusion_context = ContextView(config)
        self.fusion = nn.Sequential(nn.Dropout(config.dropout), nn.Linear(d + 4 * h, h), nn.ReLU())

    def read(self, rnn, words, lengths):
        """Embeddings (B, R, T, E), word states (B, R, T, 2H), sentence vectors (B, R, 2H)."""
        b, r, t = words.shape
        embedded = self.word_embed(words)
        states, last = rnn(embedded.view(b * r, t, -1), lengths.reshape(-1))
        return embedded, states.view(b, r, t, -1), last.view(b, r, -1)

    def forward(self, batch, rounds=None):
        image = batch["img_feat"]
        real = (image != 0).any(-1).float()
        image = F.normalize(image, dim=1)
        question_words, question_states, question = self.read(self.ques_rnn, batch["ques"],
                                                              batch["ques_len"])
        history_words, history_states, history = self.read(self.hist_rnn, batch["hist"],
                                                           batch["hist_len"])
        question_mask = (batch["ques"] != 0).float()
        history_mask = (batch["hist"] != 0).float()
        encoded, attentions = [], []
        for t in range(question.size(1)) if rounds is None else rounds:
            seen = min(t + 1, history.size(1))
            context, share = self.context_matching(question[:, t], history[:, :seen])
            topic, words = self.topic_aggregation(question_states[:, t], history_states[:, :seen],
                                                  question_words[:, t], history_words[:, :seen],
                                                  history_mask[:, :seen], share)
            view, word = self.modality_fusion_topic(image, topic, question_mask[:, t])
            fused, region = self.modality_fusion_context(view, context, real)
            encoded.append(self.fusion(fused))
            attentions.append((share, words, word, region))
        return torch.stack(encoded, 1), attentions


class Decoder(nn.Module):
    """Discriminative: a candidate's vector is the LSTM's last state."""

    def __init__(self, config, word_embed):
        super().__init__()
        self.word_embed = word_embed
        self.option_rnn = DynamicRNN(nn.LSTM(config.embed, config.hidden, 2, batch_first=True,
                                             dropout=config.lstm_dropout))

    def vectors(self, words, lengths):  # (..., T), (...)
        flat, lengths_flat = words.view(-1, words.size(-1)), lengths.reshape(-1)
        kept = (lengths_flat > 0).nonzero().squeeze(-1)
        _, last = self.option_rnn(self.word_embed(flat[kept]), lengths_flat[kept])
        vectors = last.new_zeros(flat.size(0), last.size(-1)).index_copy(0, kept, last)
        return vectors.view(*lengths.shape, -1)

    def forward(self, encoded, batch):
        return (self.vectors(batch["opt"], batch["opt_len"]) @ encoded[..., None]).squeeze(-1)


class Config:
    def __init__(self, tensors, metadata, dropout=0.0, lstm_dropout=0.0):
        settings = json.loads(metadata.get("config", "{}"))
        self.vocab, self.embed = tensors["encoder.word_embed.weight"].shape
        self.hidden = tensors["encoder.fusion.1.bias"].numel()
        self.region = tensors["encoder.modality_fusion_topic.MLP.3.bias"].numel()
        self.dropout, self.lstm_dropout = dropout, lstm_dropout
        gates = {"leaky-relu": nn.LeakyReLU, "sigmoid": nn.Sigmoid, "elu": nn.ELU}
        self.gate = gates[settings.get("gate", "leaky-relu")]
        if settings.get("positions", "none") != "none":
            sys.exit("mvan_torch: models with positions are not supported")


class Mvan(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, self.encoder.word_embed)

    def forward(self, batch):
        encoded, attentions = self.encoder(batch)
        return self.decoder(encoded, batch), encoded, attentions


def load(path, **rates):
    metadata, tensors = read_safetensors(path)
    model = Mvan(Config(tensors, metadata, **rates))
    weights = {name: tensors[name] for name in tensors if name.startswith(("encoder.", "decoder."))}
    weights["decoder.word_embed.weight"] = weights["encoder.word_embed.weight"]
    model.load_state_dict(weights)
    return model, tensors


def loss_of(scores, truth):
    return F.cross_entropy(scores.flatten(0, 1), truth.flatten())


# ---- held to the golden numbers ------------------------------------------------------------------

def check_file(path):
    model, tensors = load(path)
    batch = {name[3:]: tensors[name] for name in tensors if name.startswith("in.")}
    scores, encoded, attentions = model(batch)
    loss = loss_of(scores, batch["gt_index"])
    loss.backward()
    worst = {}

    def compare(what, have, want, scale=1.0):
        worst[what] = max(worst.get(what, 0), (have - want).abs().max().item() / scale)

    compare("encoder", encoded, tensors["out.encoder"])
    compare("scores", scores, tensors["out.disc_scores"])
    compare("loss", loss.view(1), tensors["out.disc_loss"])
    names = ("context", "topic", "region_word", "region")
    for t, found in enumerate(attentions):
        for name, have in zip(names, found):
            want = tensors[f"out.{name}_attention"][:, t]
            want = want[:, :t + 1] if name in ("context", "topic") else want
            compare(name + " attention", have, want)
    # A softmax does not see its scores' bias: that gradient is zero but for rounding.
    floor = 1e-3 * max(tensors["grad." + name].abs().max().item()
                       for name, _ in model.named_parameters())
    for name, parameter in model.named_parameters():
        want = tensors["grad." + name]
        compare("gradients", parameter.grad, want, max(want.abs().max().item(), floor))
    limits = {"gradients": 1e-4}
    good = True
    for what, off in worst.items():
        fine = off <= limits.get(what, 1e-5)
        good &= fine
        print(f"{path.name}: {what}: off by {off:.1e}{'' if fine else ', TOO MUCH'}")
    return good


def check(directory):
    files = sorted(Path(directory).glob("mvan_*.safetensors"))
    if not files:
        sys.exit(f"{directory}: no mvan_*.safetensors")
    good = all([check_file(path) for path in files])
    print("agrees with the golden numbers" if good else "DOES NOT AGREE")
    return 0 if good else 1


# ---- timing --------------------------------------------------------------------------------------

class Bench:
    """The work that is timed; every method returns after the device has finished."""

    def __init__(self, options):
        self.device = torch.device(options.device)
        self.autocast = options.precision == "bf16"
        model, _ = load(options.model)
        self.model = model.to(self.device).eval()
        _, tensors = read_safetensors(options.batch)
        self.batch = {name: tensor.to(self.device) for name, tensor in tensors.items()}
        self.trained = self.optimiser = None

    def first(self, dialogs):
        return {name: tensor[:dialogs] for name, tensor in self.batch.items()}

    def precision(self):
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.autocast)

    def question(self):
        """The last round's question of one dialog against cached candidates: as much as the public
        modules allow to be kept is kept: only the last round is computed."""
        batch = self.first(1)
        last = batch["ques"].size(1) - 1
        with torch.no_grad(), self.precision():
            if not hasattr(self, "vectors"):
                self.vectors = self.model.decoder.vectors(batch["opt"][:, last],
                                                          batch["opt_len"][:, last])
            start = time.perf_counter()
            encoded, _ = self.model.encoder(batch, rounds=[last])
            order = (self.vectors @ encoded[:, 0, :, None]).squeeze(-1).argsort(descending=True)
            order.cpu()
            return start

    def dialog(self):
        """Ten rounds of one dialog with their candidates, as the public code scores them."""
        batch = self.first(1)
        with torch.no_grad(), self.precision():
            start = time.perf_counter()
            self.model(batch)[0].cpu()
            return start

    def train(self):
        if self.trained is None:
            self.trained, _ = load(options.model, dropout=0.25, lstm_dropout=0.4)
            self.trained.to(self.device).train()
            self.optimiser = torch.optim.Adam(self.trained.parameters(), lr=1e-3)
        start = time.perf_counter()
        self.optimiser.zero_grad()
        with self.precision():
            loss = loss_of(self.trained(self.batch)[0], self.batch["gt_index"])
        loss.backward()
        self.optimiser.step()
        loss.item()
        return start

    def timed(self, what):
        """Wall and CPU time in milliseconds."""
        cpu = time.process_time()
        start = getattr(self, what)()
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e3, (time.process_time() - cpu) * 1e3


def serve(bench):
    for line in sys.stdin:
        what = line.strip()
        if what not in ("question", "dialog", "train"):
            sys.exit(f"mvan_torch: \"{what}\" is nothing that is timed")
        print("%.6f %.6f" % bench.timed(what), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", metavar="DIR")
    parser.add_argument("--versions", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--batch")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32", choices=["float32", "tf32", "bf16"])
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    # Debian's PyTorch takes one thread when it is not told.
    torch.set_num_threads(options.threads or len(os.sched_getaffinity(0)))
    if options.precision == "tf32":
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
    else:
        torch.backends.cudnn.allow_tf32 = False
    if options.versions:
        blas = "MKL" if torch.backends.mkl.is_available() else "no MKL"
        dnn = "oneDNN" if torch.backends.mkldnn.is_available() else "no oneDNN"
        print(f"PyTorch {torch.__version__}, {blas}, {dnn}, {torch.get_num_threads()} threads")
    elif options.check:
        sys.exit(check(options.check))
    elif options.model and options.batch:
        serve(Bench(options))
    else:
        parser.error("--check, --versions, or --model and --batch")
