#!/usr/bin/env python3
"""Trains the models of an experiment one after the other, evaluates each, and prints the table.

    python3 assets/blocks/experiments.py networks --data blocks --out runs   every network, three seeds
    python3 assets/blocks/experiments.py improved --data blocks --out runs   the changes of "improved"
                                                                             one by one, five seeds
    python3 assets/blocks/experiments.py full --data blocks --out runs       base, positions and all four,
                                                                             larger, three seeds
    python3 assets/blocks/experiments.py captions --data blocks --out runs   captioners with and without
                                                                             a history, five seeds

--data is what `visdial blocks make` wrote, with features; for captions with --captions 5. The results of all runs
are kept in PLAN.json in the directory of --out. A run that was stopped is resumed, one that has a result is not
repeated, so the same command again goes on. A run may have stages; those that begin alike train the first only
once. It prints the table of what there is; --table prints only that:

    python3 assets/blocks/experiments.py improved --out assets/blocks/results --table

--jobs runs train at once, each on its share of the processors."""
import argparse
import concurrent.futures
import hashlib
import itertools
import json
import math
import os
import statistics
import subprocess
import sys
import threading
import time

BASE = {"gate": "sigmoid", "optimiser": "rmsprop", "positions": "none", "margin": "1"}
CHANGES = {"Adam": {"optimiser": "adam"}, "LeakyReLU gates": {"gate": "leaky-relu", "open-gates": None},
           "positions": {"positions": "sinusoidal"}, "large margin": {}}
COMMON = {"clip": "5", "dropout": "0", "lstm-dropout": "0", "position-dropout": "0"}
NETWORKS = ["mvan", "lf", "lf-att", "lf-bu", "hre", "hrea", "mn", "mn-att", "memn2n", "dmn", "bidaf", "dcn",
            "mac", "amem", "dialog-transformer"]
FAMILIES = ["absent", "another", "attribute", "choice", "comparison", "count", "exist", "relation",
            "superlative", "verify"]


def networks():
    """One schedule for all; the relevance of all candidates is learned, which takes fewest steps."""
    # "image" changes nothing with amem and mac; kept results are found by it.
    own = {"amem": {"image": "raw"}, "mac": {"image": "raw"}, "dialog-transformer": {"embed": "96", "rate": "0.001"}}
    return {name: [{**COMMON, **BASE, "optimiser": "adam", "network": name, "hidden": "64", "batch": "32",
                    "epochs": "12", "schedule": "cosine", "rate": "0.002", "clip": "1", "train-dense": None,
                    **own.get(name, {})}] for name in NETWORKS}


def with_changes(changes, hidden="64", then="1", floor="100"):
    """First the relevance of all candidates, which takes fewest steps, then the human answers, where the large
    margin is. (Trained on those alone, lambda is so large for as long that the margin has no effect either.)"""
    first = {**COMMON, **BASE, "hidden": hidden, "batch": "8", "schedule": "cosine"}
    for change in changes:
        first.update(CHANGES[change])
    second = {**first, "epochs": then, "rate": "0.001"}
    if "large margin" in changes:
        second.update({"margin": "4", "lambda-start": "1000", "lambda-decay": "0.998", "lambda-floor": floor})
    return [{**first, "epochs": "4", "rate": "0.002", "train-dense": None}, second]


def improved():
    """Base, each change alone, all, all but each, and the large margin with other floors of lambda."""
    plan = {"base": with_changes([])}
    for change in CHANGES:
        plan[change] = with_changes([change])
    plan["all four"] = with_changes(CHANGES)
    for change in CHANGES:
        plan["all but " + change] = with_changes([c for c in CHANGES if c != change])
    for floor in "10", "1":
        plan[f"large margin, lambda to {floor}"] = with_changes(["large margin"], floor=floor)
    return plan


def full():
    """The main differences again, with a larger network and longer."""
    rows = {"base": [], "positions": ["positions"], "all four": CHANGES}
    return {name: with_changes(changes, "96", "2") for name, changes in rows.items()}


def captions():
    """Does a captioner gain by what it has seen before (CAT), by how much it may look there (AWC)? "Equal cost":
    a Transformer whose inner size makes up for the 3 d^2 that a step of CAT costs more."""
    small = {"task": "caption", "hidden": "64", "inner": "128", "layers": "2", "epochs": "1"}
    cat = {**small, "captioner": "cat"}
    return {"Transformer": [{**small, "captioner": "transformer"}],
            "Transformer, equal cost": [{**small, "captioner": "transformer", "inner": "224"}],
            "CAT": [cat], "CAT, AWC learnt": [{**cat, "awc": "learnt"}],
            "CAT, AWC fixed": [{**cat, "awc": "fixed"}],
            "CAT, past": [{**cat, "history": "past"}], "CAT, now": [{**cat, "history": "now"}]}


class Results:
    """What is kept of every run of a plan: its scores, parameters and seconds."""
    def __init__(self, path):
        self.path, self.lock, self.of = path, threading.Lock(), {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.of = json.load(file)

    def add(self, key, result):
        with self.lock:
            self.of[key] = result
            lines = [f"{json.dumps(k)}: {json.dumps(self.of[k])}" for k in sorted(self.of)]
            with open(self.path + ".part", "w", encoding="utf-8") as file:
                file.write("{\n" + ",\n".join(lines) + "\n}\n")
            os.replace(self.path + ".part", self.path)


class Stage:
    """A part of a run's training, in a directory of its own: from the model of the stage before, if there is one."""
    locks, lock = {}, threading.Lock()

    def __init__(self, directory, settings, before):
        self.directory, self.settings, self.before = directory, settings, before
        self.model = self.path("model.safetensors")

    def path(self, name):
        return os.path.join(self.directory, name)

    def alone(self):
        """Rows that share a stage wait for the one that trains it."""
        with Stage.lock:
            return Stage.locks.setdefault(self.directory, threading.Lock())

    def seconds(self):
        try:
            with open(self.path("seconds.txt"), encoding="utf-8") as file:
                return float(file.read())
        except FileNotFoundError:
            return 0.0

    def do(self, train):
        os.makedirs(self.directory, exist_ok=True)
        if os.path.exists(self.path("done")):
            return
        spent, start = self.seconds(), time.monotonic()
        try:
            train(self)
        finally:
            with open(self.path("seconds.txt"), "w", encoding="utf-8") as out:
                out.write(f"{spent + time.monotonic() - start:.0f}\n")
        with open(self.path("done"), "w", encoding="utf-8"):
            pass


class Run:
    """One row of a plan with one seed. What differs between dialogs and captions is in the two classes below."""
    def __init__(self, given, results, name, settings, seed):
        self.name, self.seed, self.given, self.settings = name, seed, given, settings
        self.results, self.key = results, f"{name}, seed {seed}"
        self.stages = []
        for i, one in enumerate(settings, 1):
            directory = f"{name.replace(',', '').replace(' ', '-')}-{seed}"
            if i < len(settings):  # rows that begin alike share it
                directory = f"stage-{hashlib.sha256(json.dumps(settings[:i]).encode()).hexdigest()[:12]}-{seed}"
            self.stages.append(Stage(os.path.join(given.out, given.plan, directory), one, self.stages[-1:]))
        self.path, self.model = self.stages[-1].path, self.stages[-1].model

    def data(self, name):
        return os.path.join(self.given.data, name)

    def call(self, *words, output=None):
        environment = dict(os.environ)
        if self.given.jobs > 1:
            environment["OPENBLAS_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // self.given.jobs))
        with open(output or os.devnull, "w", encoding="utf-8") as out, \
                open(self.path("errors.txt"), "a", encoding="utf-8") as errors:
            subprocess.run([self.given.visdial, *words], stdout=out, stderr=errors, check=True,
                           env=environment)

    def options(self, stage):
        words = [word for before in stage.before for word in ("--from", before.model)]
        for name, value in stage.settings.items():
            if name == "train-dense":
                value = self.data("train_dense.json")
            words += ["--" + name] if value is None else ["--" + name, value]
        return words

    def train(self, stage):
        if os.path.exists(stage.path("checkpoint.safetensors")):
            self.call("train", "--out", stage.directory, "--resume", "--quiet")
            return
        self.call("train", "--features", self.data("train_features.safetensors"), "--out", stage.directory,
                  "--quiet", "--seed", str(self.seed), *self.inputs(), *self.options(stage))

    def do(self):
        if self.result():
            return
        os.makedirs(self.stages[-1].directory, exist_ok=True)
        for stage in self.stages:
            with stage.alone():
                stage.do(self.train)
        scores = self.read(self.eval(*self.judges()))
        self.results.add(self.key, {"scores": {name: round(value, 6) for name, value in scores.items()},
                                    "parameters": self.parameters(), "settings": self.settings,
                                    "seconds": sum(stage.seconds() for stage in self.stages)})

    def eval(self, *options):
        self.call("eval", "--model", self.model, "--features", self.data("val_features.safetensors"),
                  "--resamples", "0", "--quiet", "--json", *options, output=self.path("eval.json"))
        with open(self.path("eval.json"), encoding="utf-8") as file:
            return json.load(file)

    def result(self):
        """None: there is none, or it is of other settings."""
        found = self.results.of.get(self.key)
        return found if found and found["settings"] == self.settings else None

    def scores(self):
        return self.result()["scores"]

    def parameters(self):
        told = subprocess.run([self.given.visdial, "info", self.model], capture_output=True, text=True, check=True)
        return int(next(line.split()[1] for line in told.stdout.splitlines() if line.startswith("parameters")))


class DialogRun(Run):
    changed = {"no history": "--no-history", "another picture": "--other-image"}  # correct@1 of these evals
    spreads, means = ["correct@1", "MRR", "NDCG"], FAMILIES + list(changed)

    def inputs(self):
        return "--data", self.data("train.json")

    def dialogs(self):
        return "--data", self.data("val.json"), "--dense", self.data("val_dense.json")

    def judges(self):
        return *self.dialogs(), "--ranks", self.path("ranks.json"), "--force"

    def read(self, found):
        return {"correct@1": found["all"]["correct@1"], "MRR": found["all"]["mrr"], "NDCG": found["all"]["ndcg"],
                **{f: found["family"][f]["correct@1"] for f in FAMILIES if f in found["family"]},
                **{name: self.eval(*self.dialogs(), option)["all"]["correct@1"]
                   for name, option in self.changed.items()}}


class CaptionRun(Run):
    """Scores of greedy captions; the cross entropy of a word is of what people say."""
    spreads = ["cross entropy", "CIDEr-D", "true bits", "faithful"]
    means = ["BLEU-1", "BLEU-4", "CHAIR_i", "history", "equal scores"]

    def inputs(self):
        return ("--data", self.data("train_captions.json"), "--val", self.data("val_captions.json"),
                "--val-features", self.data("val_features.safetensors"))

    def judges(self):
        return ("--task", "caption", "--beam", "1", "--references", self.data("val_captions.json"), "--scenes",
                self.data("val_scenes.json"))

    def say(self, picture):
        self.call("caption", "--data", self.data("val.json"), "--features", self.data("val_features.safetensors"),
                  "--image", str(picture), "--model", self.model, "--beam", "1", "--json",
                  output=self.path("caption.json"))
        with open(self.path("caption.json"), encoding="utf-8") as file:
            return json.load(file)["words"]

    def places(self, t):
        """Places of the history at word t, counted from 1."""
        return {"now": 1, "past": t - 1}.get(self.settings[-1].get("history"), t)

    def shares(self, pictures=40):
        """What the heads of the top layer give to the history, and what they would give with
        equal scores: a share of n of P + n places. Means over the words of greedy captions."""
        with open(self.data("val_captions.json"), encoding="utf-8") as file:
            ids = [image["cocoid"] for image in json.load(file)["images"][:pictures]]
        found = [(sum(word["history"]), self.places(t) / (len(word["regions"]) + self.places(t)))
                 for picture in ids for t, word in enumerate(self.say(picture), 1)]
        return dict(zip(("history", "equal scores"), map(statistics.mean, zip(*found))))

    def read(self, found):
        with open(self.path("log.tsv"), encoding="utf-8") as file:
            head, *rows = [line.rstrip("\n").split("\t") for line in file]
        names = {"CIDEr-D": "cider_d", "true bits": "true_bits", "faithful": "faithful", "BLEU-1": "bleu_1",
                 "BLEU-4": "bleu_4", "CHAIR_i": "chair_i"}
        return {"cross entropy": float(rows[-1][head.index("cross-entropy")]),
                **(self.shares() if self.settings[-1]["captioner"] == "cat" else {}),
                **{name: found["all"][key] for name, key in names.items() if key in found["all"]}}


PLANS = {"networks": (networks, 3, DialogRun), "improved": (improved, 5, DialogRun),
         "full": (full, 3, DialogRun),
         "captions": (captions, 5, CaptionRun)}


def spread(values):
    mean = statistics.mean(values)
    return f"{mean:.3f}" + (f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else "")


def done_by_name(runs):
    done = {}
    for run in runs:
        if run.result():
            done.setdefault(run.name, []).append(run)
    return done


def table(runs):
    spreads, means = type(runs[0]).spreads, type(runs[0]).means
    columns = spreads + means
    lines = ["| | runs | " + " | ".join(columns) + " | parameters | least minutes |",
             "|---" * (len(columns) + 4) + "|"]
    for name, done in done_by_name(runs).items():
        scores = [run.scores() for run in done]
        cells = [spread([s[c] for s in scores]) for c in spreads]
        kept = [[s[c] for s in scores if c in s] for c in means]  # older results have fewer
        cells += [f"{statistics.mean(values):.3f}" if values else "" for values in kept]
        minutes = min(run.result()["seconds"] for run in done) / 60  # others ran on a busier machine
        lines.append(f"| {name} | {len(done)} | " + " | ".join(cells) +
                     f" | {done[0].result()['parameters']:,} | {minutes:.0f} |")
    return "\n".join(lines)


# 97.5 % quantiles of Student's t.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}


def half_interval(a, b):
    """Half of the 95 % interval of the difference of two means, with the variance of both together."""
    freedom = len(a) + len(b) - 2
    variance = ((len(a) - 1) * statistics.variance(a) + (len(b) - 1) * statistics.variance(b)) / freedom
    return STUDENT.get(freedom, 1.96) * math.sqrt(variance * (1 / len(a) + 1 / len(b)))


def permutation(a, b):
    """p of the difference of means by the exact permutation test, two-sided."""
    both, n = a + b, len(a)
    found = abs(statistics.mean(a) - statistics.mean(b))
    drawn = [abs(sum(pick) / n - (sum(both) - sum(pick)) / len(b)) for pick in itertools.combinations(both, n)]
    return sum(d >= found - 1e-12 for d in drawn) / len(drawn)


def holm(values):
    """Holm's correction: the smallest p times their number, the next times one less, never falling."""
    corrected, last = [0.0] * len(values), 0.0
    for rank, i in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        last = max(last, min(1.0, values[i] * (len(values) - rank)))
        corrected[i] = last
    return corrected


def differences(runs):
    """Every row minus the first: 95 % interval, and p by the exact permutation test of the runs with Holm's
    correction for the rows, in each column with a spread."""
    done = {name: some for name, some in done_by_name(runs).items() if len(some) > 1}
    if len(done) < 2:
        return ""
    columns, (first, *others) = type(runs[0]).spreads, done
    lines = [f"| minus {first} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    values = {c: {name: [run.scores()[c] for run in some] for name, some in done.items()} for c in columns}
    p = {c: holm([permutation(values[c][first], values[c][name]) for name in others]) for c in columns}
    for i, name in enumerate(others):
        pairs = [(values[c][name], values[c][first], p[c][i]) for c in columns]
        lines.append(f"| {name} | " + " | ".join(
            f"{statistics.mean(a) - statistics.mean(b):+.3f} ± {half_interval(a, b):.3f} (p {q:.2g})"
            for a, b, q in pairs) + " |")
    return "\n\n" + "\n".join(lines)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", choices=sorted(PLANS))
    parser.add_argument("--data", help="directory of `visdial blocks make`")
    parser.add_argument("--out", required=True, help="directory of the runs and of PLAN.json")
    parser.add_argument("--visdial", default="build/visdial", help="the program (build/visdial)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once (1)")
    parser.add_argument("--seeds", type=int, help="seeds of each (that of the plan)")
    parser.add_argument("--only", action="append", help="only this row of the plan; may be given again")
    parser.add_argument("--table", action="store_true", help="train nothing, print what there is")
    given = parser.parse_args()
    if not given.data and not given.table:
        parser.error("--data is needed to train")
    return given


def main():
    given = read_arguments()
    plan, seeds, kind = PLANS[given.plan]
    rows = {name: s for name, s in plan().items() if not given.only or name in given.only}
    os.makedirs(given.out, exist_ok=True)
    results = Results(os.path.join(given.out, given.plan + ".json"))
    runs = [kind(given, results, name, settings, seed + 1)
            for seed in range(given.seeds or seeds) for name, settings in rows.items()]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        pending = {pool.submit(run.do): run for run in ([] if given.table else runs)}
        for future in concurrent.futures.as_completed(pending):
            run = pending[future]
            if future.exception():
                failed.append(f"{run.stages[-1].directory}: {future.exception()} (see errors.txt there)")
            else:
                print(f"{run.name}, seed {run.seed}: {kind.spreads[0]} {run.scores()[kind.spreads[0]]:.3f}",
                      file=sys.stderr)
    print(table(runs) + differences(runs))
    print(*failed, sep="\n", end="\n" if failed else "", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
