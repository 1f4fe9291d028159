"""The networks on the tape in PyTorch, as one would write them there: whole batches, packed LSTMs
and GRUs, masked softmax, PyTorch's own scaled dot-product attention; loops only over steps, hops,
layers, rounds that need the one before, and facts that a gate lets in. Parameters have the names of
visdial's files; the formulas are those of engine/networks/ and tests/golden/networks.py. For
networks_torch.py."""
from collections import OrderedDict
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

AGES, AMEM_AGES, MAPS, PLACES = 64, 12, 2, 512
tanh, sigmoid, elu, cat = torch.tanh, torch.sigmoid, F.elu, torch.cat


# ---- parts ---------------------------------------------------------------------------------------

class Text(NamedTuple):
    ids: torch.Tensor  # (S, T)
    lengths: torch.Tensor  # (S), of the host
    mask: torch.Tensor  # (S, T)


class Strung(NamedTuple):
    """The words of each dialog as one sequence, to follow its regions."""
    ids: torch.Tensor  # (B, T)
    places: torch.Tensor  # (B, T)
    last: torch.Tensor  # (B, R): a question's last word
    sees: torch.Tensor  # (B, P + T, P + T): of regions, then words, what each may look at


class Config(NamedTuple):
    vocab: int
    embed: int
    hidden: int
    region: int
    hops: int
    dropout: float = 0.0
    lstm_dropout: float = 0.0
    position_dropout: float = 0.0
    heads: int = 4


class Parts(nn.Module):
    """Modules and parameters below one name."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


class Reader(nn.Module):
    """Packed sequences -> packed states, and the last ones; hidden: of each direction."""

    def __init__(self, size, hidden, layers=2, both=False, dropout=0.0, kind=nn.LSTM):
        super().__init__()
        self.rnn_model = kind(size, hidden, layers, batch_first=True, bidirectional=both,
                              dropout=dropout if layers > 1 else 0.0)

    def forward(self, packed):
        states, last = self.rnn_model(packed)
        last = last[0] if isinstance(last, tuple) else last
        return states, cat(list(last[-2 if self.rnn_model.bidirectional else -1:]), -1)


def pack(x, lengths):
    return pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)


def unpack(packed):
    return pad_packed_sequence(packed, batch_first=True)[0]


def unbiased(size, out):
    return nn.Linear(size, out, bias=False)


def two_layers(size, hidden, out):
    return nn.Sequential(nn.Linear(size, hidden), nn.ELU(), nn.Linear(hidden, out))


def masked_softmax(scores, mask, dim=-1):
    return scores.masked_fill(~mask, -float("inf")).softmax(dim)


def vector(size):
    return nn.Parameter(torch.zeros(1, size))


class Additive(nn.Module):
    """(B, R, H), (B, K, H) -> (B, R, K)"""

    def __init__(self, h, dropout=0.0):
        super().__init__()
        self.query, self.key, self.v = nn.Linear(h, h), unbiased(h, h), unbiased(h, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y):
        return self.v(self.dropout(tanh(self.query(x)[:, :, None] + self.key(y)[:, None])))[..., 0]


class Glimpse(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.image, self.out = nn.Linear(c.region, c.hidden), nn.Linear(c.hidden, c.hidden)
        self.score, self.dropout = Additive(c.hidden, c.dropout), nn.Dropout(c.dropout)

    def forward(self, batch, u):
        y = self.dropout(tanh(self.image(normalise(batch))))
        seen = masked_softmax(self.score(u, y), batch.real[:, None]) @ y
        return tanh(self.out(self.dropout(seen + u)))


def normalise(batch):  # (B, P, D)
    return F.normalize(batch.image, dim=1)


def picture(batch):  # (B, D)
    return F.normalize(batch.image.sum(1) / batch.real.sum(1, keepdim=True), dim=-1)


class Encoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config, self.dropout = c, nn.Dropout(c.dropout)
        self.word_embed = nn.Embedding(c.vocab, c.embed, padding_idx=0)

    def reader(self, size, hidden, **how):
        return Reader(size, hidden, dropout=self.config.lstm_dropout, **how)

    def words(self, text, dropout=False):
        p = pack(text.ids, text.lengths)
        x = self.word_embed(p.data)
        return PackedSequence(self.dropout(x) if dropout else x, p.batch_sizes, p.sorted_indices,
                              p.unsorted_indices)

    def sentences(self, batch, reader, text, dropout=False):  # (B, R, H)
        return reader(self.words(text, dropout))[1].view(batch.dialogs, batch.rounds, -1)


def spread(batch, x):
    """A row of each dialog for each of its questions."""
    return x[:, None].expand(-1, batch.rounds, -1)


# ---- late fusion, recurrent encoders, memories ---------------------------------------------------

class LateFusion(Encoder):
    def __init__(self, c, joined):
        super().__init__(c)
        self.ques_rnn, self.hist_rnn = (self.reader(c.embed, c.hidden) for _ in range(2))
        self.fusion = nn.Linear(joined, c.hidden)

    def texts(self, batch):
        states = unpack(self.hist_rnn(self.words(batch.strung))[0])
        return (self.sentences(batch, self.ques_rnn, batch.questions),
                states[batch.each_dialog, batch.ends - 1])


class Lf(LateFusion):
    def __init__(self, c):
        super().__init__(c, c.region + 2 * c.hidden)

    def forward(self, batch):
        q, g = self.texts(batch)
        return tanh(self.fusion(self.dropout(cat([q, spread(batch, picture(batch)), g], -1))))


class LfAtt(LateFusion):
    def __init__(self, c):
        super().__init__(c, 2 * c.hidden)
        self.regions = Glimpse(c)

    def forward(self, batch):
        return self.regions(batch, tanh(self.fusion(cat(self.texts(batch), -1))))


class LfBu(LateFusion):
    def __init__(self, c):
        super().__init__(c, c.region + 2 * c.hidden)
        self.image_features_projection = nn.Linear(c.region, c.hidden)
        self.attention_proj = nn.Linear(c.hidden, 1)

    def forward(self, batch):
        q, g = self.texts(batch)
        regions = normalise(batch)
        y = self.image_features_projection(regions)
        scores = self.attention_proj(self.dropout(q[:, :, None] * y[:, None]))[..., 0]
        v = masked_softmax(scores, batch.real[:, None]) @ regions
        return tanh(self.fusion(self.dropout(cat([v, q, g], -1))))


class Hre(Encoder):
    def __init__(self, c):
        super().__init__(c)
        self.image, self.ques_rnn = nn.Linear(c.region, c.embed), self.reader(2 * c.embed, c.hidden)
        self.hist_rnn = self.reader(c.embed, c.hidden)
        self.dialog = Parts(rnn_model=nn.LSTM(2 * c.hidden, c.hidden, batch_first=True))

    def texts(self, batch):
        text = batch.questions
        i = spread(batch, self.image(self.dropout(picture(batch)))).flatten(0, 1)
        beside = i[:, None].expand(-1, text.ids.size(1), -1)
        words = pack(cat([self.word_embed(text.ids), beside], -1), text.lengths)
        return (self.ques_rnn(words)[1].view(batch.dialogs, batch.rounds, -1),
                self.sentences(batch, self.hist_rnn, batch.entries))

    def forward(self, batch):
        return self.dialog.rnn_model(cat(self.texts(batch), -1))[0]


class Hrea(Hre):
    def __init__(self, c):
        super().__init__(c)
        self.rounds = Parts(score=Additive(c.hidden))

    def forward(self, batch):
        q, h = self.texts(batch)
        a = masked_softmax(self.rounds.score(q, h), batch.past)
        return self.dialog.rnn_model(cat([a @ h, q], -1))[0]


class Memory(Encoder):
    def __init__(self, c):
        super().__init__(c)
        self.ques_rnn, self.hist_rnn = (self.reader(c.embed, c.hidden) for _ in range(2))
        self.memory, self.out = (nn.Linear(c.hidden, c.hidden) for _ in range(2))

    def asked(self, batch):
        return self.sentences(batch, self.ques_rnn, batch.questions, dropout=True)

    def look_back(self, batch, u):
        h = self.sentences(batch, self.hist_rnn, batch.entries, dropout=True)
        recalled = masked_softmax(u @ h.transpose(1, 2), batch.past) @ h
        return tanh(self.out(tanh(self.memory(self.dropout(recalled))) + u))


class Mn(Memory):
    def __init__(self, c):
        super().__init__(c)
        self.fuse = nn.Linear(c.hidden + c.region, c.hidden)

    def forward(self, batch):
        u = cat([self.asked(batch), spread(batch, picture(batch))], -1)
        return self.look_back(batch, tanh(self.fuse(u)))


class MnAtt(Memory):
    def __init__(self, c):
        super().__init__(c)
        self.regions = Glimpse(c)

    def forward(self, batch):
        return self.regions(batch, self.look_back(batch, self.asked(batch)))


# ---- reasoning step by step ----------------------------------------------------------------------

class Control(nn.Module):
    def __init__(self, d, steps):
        super().__init__()
        self.question = nn.ModuleList(nn.Linear(d, d) for _ in range(steps))
        self.start, self.join, self.score = vector(d), nn.Linear(2 * d, d), unbiased(d, 1)

    def forward(self, step, c, q, words, mask):  # (N, d), (N, d), (N, T, d), (N, T)
        u = self.join(cat([c, self.question[step](q)], -1))
        a = masked_softmax(self.score(u[:, None] * words)[..., 0], mask)
        return (a[:, None] @ words)[:, 0]


class MacRead(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.memory, self.key, self.mix = (nn.Linear(d, d) for _ in range(3))
        self.own, self.score = unbiased(d, d), unbiased(d, 1)

    def forward(self, c, m, x, key, own, mask):  # (B, R, 1, d); x (B, R or 1, K, d)
        i = elu(self.mix(self.memory(m) * key) + own)
        p = masked_softmax(self.score(elu(c * i))[..., 0], mask)
        return p @ x[:, 0] if x.size(1) == 1 else (p[:, :, None] @ x)[:, :, 0]


class Mac(Encoder):
    def __init__(self, c):
        super().__init__(c)
        d = c.hidden
        self.ques_rnn, self.hist_rnn = (self.reader(c.embed, d // 2, both=True) for _ in range(2))
        self.regions = Parts(image=two_layers(c.region, d, d), read=MacRead(d))
        self.rounds = Parts(entry=nn.Linear(d, d), age=nn.Embedding(AGES, d), read=MacRead(d))
        self.control = Control(d, c.hops)
        self.memory = Parts(start=vector(d), write=nn.Linear(3 * d, d))
        self.out = two_layers(2 * d, d, d)

    def reading(self, reader, x, mask):
        return lambda c, m, key=reader.key(x), own=reader.own(x): reader(c, m, x, key, own, mask)

    def forward(self, batch):
        states, q = self.ques_rnn(self.words(batch.questions))
        words = unpack(states)
        h = self.rounds.entry(self.sentences(batch, self.hist_rnn, batch.entries))
        regions = self.reading(self.regions.read, self.regions.image(batch.image)[:, None],
                               batch.real[:, None])
        rounds = self.reading(self.rounds.read, h[:, None] + self.rounds.age(batch.age), batch.past)
        c, m = (x.expand(len(q), -1) for x in (self.control.start, self.memory.start))
        for i in range(self.config.hops):
            c = self.control(i, c, q, words, batch.questions.mask)
            shape = batch.dialogs, batch.rounds, 1, -1
            found = [read(c.view(shape), m.reshape(shape)).flatten(0, 1)
                     for read in (regions, rounds)]
            m = self.memory.write(cat([*found, m], -1))
        return self.out(self.dropout(cat([q, m], -1))).view(batch.dialogs, batch.rounds, -1)


class AmemImage(nn.Module):
    def __init__(self, region, d):
        super().__init__()
        self.straight = nn.Linear(region, d)
        self.add_module("0", nn.Linear(region, d))
        self.add_module("2", nn.Linear(d, d))

    def forward(self, x):
        return self.get_submodule("2")(elu(self.get_submodule("0")(x))) + self.straight(x)


class AmemFocus(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.key, self.maps = nn.Linear(d, d), nn.Linear(MAPS + 2, d)
        self.scale, self.shift = nn.Linear(2 * d, d), nn.Linear(2 * d, d)
        self.score = nn.Linear(d, MAPS)

    def forward(self, key, z, maps):  # (B, P, d), (B, 1, 2d), (B, P, MAPS + 2)
        y = key * (1 + self.scale(z)) + self.shift(z) + self.maps(maps)
        return sigmoid(self.score(elu(y)))


class AmemRegions(nn.Module):
    def __init__(self, region, d):
        super().__init__()
        self.key, self.mix, self.score = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 2)
        self.scale, self.shift, self.direction = (nn.Linear(2 * d, d) for _ in range(3))
        self.maps, self.difference = nn.Linear(MAPS + 1, d), unbiased(region, d)

    def forward(self, key, apart, z, maps, chosen, real):
        y = key * (1 + self.scale(z)) + self.shift(z) + self.maps(maps)
        y = y + (apart - chosen[:, None] @ apart) * self.direction(z)
        choose, collect = self.score(elu(self.mix(elu(y)))).unbind(-1)
        return masked_softmax(choose, real), sigmoid(collect) * real


class Amem(Encoder):
    def __init__(self, c):
        super().__init__(c)
        d = c.hidden
        self.ques_rnn, self.hist_rnn = (Reader(c.embed, d // 2, layers=1, both=True)
                                        for _ in range(2))
        self.image, self.control = AmemImage(c.region, d), Control(d, c.hops)
        self.rounds = Parts(key=nn.Linear(d, d), age=nn.Embedding(AMEM_AGES, d),
                            query=nn.Linear(2 * d, d), score=unbiased(d, 1))
        self.regions, self.focus = AmemRegions(c.region, d), AmemFocus(d)
        self.memory = Parts(start=vector(d), write=nn.Linear(5 * d, d))
        self.out = two_layers(2 * d, d, d)

    def recall(self, keys, h, z):
        scores = self.rounds.score(elu(keys + self.rounds.query(z)))[..., 0]
        a = scores.softmax(-1)[:, None]
        return a, (a @ h)[:, 0]

    def forward(self, batch):
        states, q = self.ques_rnn(self.words(batch.questions))
        rows = lambda x: x.view(batch.dialogs, batch.rounds, *x.shape[1:])
        words, mask, q = rows(unpack(states)), rows(batch.questions.mask), rows(q)
        h = self.sentences(batch, self.hist_rnn, batch.entries)
        x, apart = self.image(batch.image), self.regions.difference(batch.image)
        key, focus, heard = self.regions.key(x), self.focus.key(x), self.rounds.key(h)
        ages = self.rounds.age(batch.age.clamp(max=AMEM_AGES - 1))
        nothing = torch.zeros_like(batch.real, dtype=x.dtype)
        alike = batch.real / batch.real.sum(-1, keepdim=True)
        start = self.memory.start.expand(batch.dialogs, -1)
        unseen = torch.stack([nothing, nothing, nothing, alike], -1)
        maps = [self.focus(focus, cat([h[:, 0], start], -1)[:, None], unseen)]
        out = []
        for t in range(batch.rounds):
            c, m, collected, chosen = self.control.start.expand_as(start), start, nothing, alike
            keys, known = heard[:, :t + 1] + ages[t, :t + 1], torch.stack(maps, 1).flatten(2)
            for i in range(self.config.hops):
                c = self.control(i, c, q[:, t], words[:, t], mask[:, t])
                z = cat([c, m], -1)[:, None]
                a, said = self.recall(keys, h[:, :t + 1], z)
                recalled = (a @ known).view(*nothing.shape, MAPS)
                chosen, collected = self.regions(key, apart, z,
                                                 cat([recalled, collected[..., None]], -1), chosen,
                                                 batch.real)
                found = torch.stack([chosen, collected], 1) @ x
                m = self.memory.write(cat([found.flatten(1), said, m, c], -1))
            out.append(m)
            if t + 1 < batch.rounds:
                seen = cat([recalled, collected[..., None], chosen[..., None]], -1)
                maps.append(self.focus(focus, cat([h[:, t + 1], m], -1)[:, None], seen))
        return self.out(self.dropout(cat([q, torch.stack(out, 1)], -1)))


# ---- memory networks -----------------------------------------------------------------------------

class Memn2n(Encoder):
    def __init__(self, c):
        super().__init__(c)
        hops = range(c.hops + 1)
        self.memory = Parts(
            words=nn.ModuleDict({str(k): nn.Embedding(c.vocab, c.embed, padding_idx=0)
                                 for k in hops if k > 0}),
            time=nn.ModuleList(nn.Embedding(AGES, c.embed) for _ in hops),
            image=nn.ModuleList(unbiased(c.region, c.embed) for _ in hops))
        self.out = nn.Linear(c.embed, c.hidden)

    def entries(self, batch, k):  # (B, R, R, E): as each question sees them
        table = self.memory.words[str(k)] if k else self.word_embed
        sums = (table(batch.entries.ids) * batch.entry_places).sum(1)
        return sums.view(batch.dialogs, 1, batch.rounds, -1) + self.memory.time[k](batch.age)

    def forward(self, batch):
        regions = normalise(batch)
        u = (self.word_embed(batch.questions.ids) * batch.question_places).sum(1)
        u = u.view(batch.dialogs, batch.rounds, -1)
        said, seen = self.entries(batch, 0), self.memory.image[0](regions)
        for k in range(self.config.hops):
            p = masked_softmax((said @ u[..., None])[..., 0], batch.past)
            v = masked_softmax(u @ seen.transpose(1, 2), batch.real[:, None])
            said, seen = self.entries(batch, k + 1), self.memory.image[k + 1](regions)
            u = u + (p[:, :, None] @ said)[:, :, 0] + v @ seen
        return tanh(self.out(u))


class Episode(nn.Module):
    """Facts (B, R or 1, K, H), read as far as a gate lets them in."""

    def __init__(self, h):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(4 * h, h), nn.Tanh(), unbiased(h, 1))
        self.gru = Parts(input=nn.Linear(h, 2 * h), state=nn.Linear(h, 2 * h))

    def prepare(self, facts, q, mask):
        return facts * q, (facts - q).abs(), self.gru.input(facts).chunk(2, -1), facts, mask

    def forward(self, prepared, m):  # (B, R, 1, H)
        with_q, from_q, (to_r, to_n), facts, mask = prepared
        z = cat([with_q, facts * m, from_q, (facts - m).abs()], -1)
        gate = masked_softmax(self.score(z)[..., 0], mask)[..., None]
        h = torch.zeros_like(m[:, :, 0])
        for j in range(facts.size(2)):
            r, n = self.gru.state(h).chunk(2, -1)
            new = tanh(to_n[:, :, j] + sigmoid(to_r[:, :, j] + r) * n)
            h = h + gate[:, :, j] * (new - h)
        return h


class Dmn(Encoder):
    def __init__(self, c):
        super().__init__(c)
        h = c.hidden
        self.question = Reader(c.embed, h, layers=1, kind=nn.GRU)
        self.entries = Reader(c.embed, h, layers=1, both=True, kind=nn.GRU)
        self.regions = Reader(h, h, layers=1, both=True, kind=nn.GRU)
        self.regions.image = nn.Linear(c.region, h)
        self.memory = Parts(entries=Episode(h), regions=Episode(h),
                            update=nn.ModuleList(nn.Linear(4 * h, h) for _ in range(c.hops)))
        self.out = nn.Linear(2 * h, h)

    def facts(self, reader, x, lengths):
        states = unpack(reader(pack(x, lengths))[0])
        return self.dropout(sum(states.chunk(2, -1)))

    def forward(self, batch):
        b, r = batch.dialogs, batch.rounds
        m = q = self.sentences(batch, self.question, batch.questions)
        sums = (self.word_embed(batch.entries.ids) * batch.entry_places).sum(1).view(b, 1, r, -1)
        rounds = self.facts(self.entries, sums.expand(-1, r, -1, -1).flatten(0, 1),
                            torch.arange(1, r + 1).repeat(b)).view(b, r, r, -1)
        regions = self.facts(self.regions, tanh(self.regions.image(normalise(batch))),
                             batch.real.sum(-1).cpu())[:, None]
        rounds = self.memory.entries.prepare(rounds, q[:, :, None], batch.past)
        regions = self.memory.regions.prepare(regions, q[:, :, None], batch.real[:, None])
        for update in self.memory.update:
            said = self.memory.entries(rounds, m[:, :, None])
            seen = self.memory.regions(regions, m[:, :, None])
            m = torch.relu(update(cat([m, said, seen, q], -1)))
        return tanh(self.out(self.dropout(cat([m, q], -1))))


# ---- attention flow and co-attention -------------------------------------------------------------

class Flow(nn.Module):
    """Rows (N, L, W), compared with the words of the question, become one row."""

    def __init__(self, c, model, pool):
        super().__init__()
        self.dropout, self.model, self.pool = nn.Dropout(c.dropout), model, unbiased(pool, 1)

    def read(self, g, text):
        g = self.dropout(g)
        if isinstance(self.model, nn.Linear):
            return torch.relu(self.model(g))
        return unpack(self.model(pack(g, text.lengths))[0])

    def mix(self, s, m, mask):
        p = masked_softmax(self.pool(self.dropout(s))[..., 0], mask)
        return (p[:, None] @ m)[:, 0]


class BidafFlow(Flow):
    WIDTH, POOL, LAYERS = 4, 5, 2

    def __init__(self, c, model, pool):
        super().__init__(c, model, pool)
        self.score = unbiased(3 * c.hidden, 1)

    def forward(self, rows, text, words, mask):
        own, other, both = self.score.weight[0].chunk(3)
        s = (rows * both) @ words.transpose(1, 2) + (words @ other)[:, None]
        s = s.masked_fill(~mask[:, None], -float("inf"))
        u = s.softmax(-1) @ words
        b = masked_softmax(rows @ own + s.amax(-1), text.mask)
        g = cat([rows, u, rows * u, rows * (b[:, None] @ rows)], -1)
        m = self.read(g, text)
        return self.mix(cat([g, m], -1), m, text.mask)


class DcnFlow(Flow):
    WIDTH, POOL, LAYERS = 3, 1, 1

    def __init__(self, c, model, pool):
        super().__init__(c, model, pool)
        self.question = nn.Linear(c.hidden, c.hidden)
        self.sentinel = Parts(question=vector(c.hidden), context=vector(c.hidden))

    @staticmethod
    def before(sentinel, rows, mask):
        return (cat([sentinel.expand(len(rows), 1, -1), rows], 1),
                F.pad(mask, (1, 0), value=True))

    def forward(self, rows, text, words, mask):
        words, mask = self.before(self.sentinel.question, words, mask)
        all_rows, there = self.before(self.sentinel.context, rows, text.mask)
        q = tanh(self.question(words))
        s = all_rows @ q.transpose(1, 2)
        taken = masked_softmax(s, there[..., None], 1).transpose(1, 2) @ all_rows
        looks = masked_softmax(s[:, 1:], mask[:, None])
        m = self.read(cat([rows, looks @ cat([q, taken], -1)], -1), text)
        return self.mix(m, m, text.mask)


class Flows(Encoder):
    def __init__(self, c, flow):
        super().__init__(c)
        w = c.hidden
        size = flow.WIDTH * w
        self.ques_rnn, self.hist_rnn = (self.reader(c.embed, w // 2, both=True) for _ in range(2))
        self.regions = Parts(image=nn.Linear(c.region, w))
        history = nn.LSTM(size, w // 2, flow.LAYERS, batch_first=True, bidirectional=True,
                          dropout=c.lstm_dropout if flow.LAYERS > 1 else 0.0)
        self.flow = Parts(history=flow(c, history, flow.POOL * w),
                          regions=flow(c, nn.Linear(size, w), flow.POOL * w))
        self.out = nn.Linear(3 * w, c.hidden)

    def forward(self, batch):
        states, q = self.ques_rnn(self.words(batch.questions, dropout=True))
        words, mask = unpack(states), batch.questions.mask
        said = unpack(self.hist_rnn(self.words(batch.entries, dropout=True))[0]).flatten(0, 1)
        seen = spread(batch, tanh(self.regions.image(normalise(batch))).flatten(1))
        seen = seen.reshape(len(q), batch.real.size(1), -1)
        real = batch.real.repeat_interleave(batch.rounds, 0)
        sums = [self.flow.history(F.embedding(batch.seen.ids, said), batch.seen, words, mask),
                self.flow.regions(seen, Text(seen, real.sum(-1), real), words, mask)]
        e = tanh(self.out(self.dropout(cat(sums + [q], -1))))
        return e.view(batch.dialogs, batch.rounds, -1)


class Bidaf(Flows):
    def __init__(self, c):
        super().__init__(c, BidafFlow)


class Dcn(Flows):
    def __init__(self, c):
        super().__init__(c, DcnFlow)


# ---- the dialog as one sequence ------------------------------------------------------------------

def attend(q, k, v, mask):  # (B, heads, T, d / heads)
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return masked_softmax(q @ k.transpose(2, 3) / q.size(-1) ** 0.5, mask) @ v  # before 2.0


class SelfAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.query, self.key, self.value, self.out = (unbiased(d, d) for _ in range(4))
        self.heads = heads

    def forward(self, y, sees):
        q, k, v = (part(y).view(*y.shape[:2], self.heads, -1).transpose(1, 2)
                   for part in (self.query, self.key, self.value))
        return self.out(attend(q, k, v, sees[:, None]).transpose(1, 2).flatten(2))


class TransformerLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c.embed
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.dropout = nn.Dropout(c.dropout)
        self.attention = SelfAttention(d, c.heads)
        self.ffn = nn.Sequential(OrderedDict([("1", nn.Linear(d, 4 * d)), ("gelu", nn.GELU()),
                                              ("2", nn.Linear(4 * d, d))]))

    def forward(self, x, sees):
        x = x + self.dropout(self.attention(self.norm1(x), sees))
        return x + self.dropout(self.ffn(self.norm2(x)))


class DialogTransformer(Encoder):
    def __init__(self, c):
        super().__init__(c)
        d = c.embed
        self.regions = Parts(image=nn.Linear(c.region, d), kind=vector(d))
        self.place, self.position_dropout = nn.Embedding(PLACES, d), nn.Dropout(c.position_dropout)
        self.layers = nn.ModuleList(TransformerLayer(c) for _ in range(c.hops))
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, c.hidden)

    def forward(self, batch):
        text = batch.dialog
        words = self.word_embed(text.ids) + self.place(text.places.clamp(max=PLACES - 1))
        regions = self.regions.image(batch.image) + self.regions.kind
        x = cat([regions, self.position_dropout(words)], 1)
        for layer in self.layers:
            x = layer(x, text.sees)
        x = x[batch.each_dialog, batch.image.size(1) + text.last]
        return self.out(self.norm(x))


ENCODERS = {"lf": Lf, "lf-att": LfAtt, "lf-bu": LfBu, "hre": Hre, "hrea": Hrea, "mn": Mn,
            "mn-att": MnAtt, "mac": Mac, "amem": Amem, "memn2n": Memn2n, "dmn": Dmn,
            "bidaf": Bidaf, "dcn": Dcn, "dialog-transformer": DialogTransformer}
