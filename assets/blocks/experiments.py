#!/usr/bin/env python3
"""Trains the models of an experiment one after the other, evaluates each, and prints the table.

    python3 assets/blocks/experiments.py networks --data blocks --out runs   every network, three seeds
    python3 assets/blocks/experiments.py improved --data blocks --out runs   the changes of "improved"
                                                                             one by one, five seeds

--data is what `visdial blocks make` wrote, with features. A run that was stopped is resumed, one that is
done is not repeated, so the same command again goes on, and prints the table of what there is. --jobs runs
train at once, each on its share of the processors."""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import time

BASE = {"gate": "sigmoid", "optimiser": "rmsprop", "positions": "none", "margin": "1"}
CHANGES = {"Adam": {"optimiser": "adam"}, "LeakyReLU gates": {"gate": "leaky-relu", "open-gates": None},
           "positions": {"positions": "sinusoidal"},
           "large margin": {"margin": "4", "lambda-start": "50000", "lambda-decay": "0.9995",
                            "lambda-floor": "10"}}
COMMON = {"clip": "5", "dropout": "0", "lstm-dropout": "0", "position-dropout": "0"}
NETWORKS = ["mvan", "lf", "lf-att", "lf-bu", "hre", "hrea", "mn", "mn-att", "memn2n", "dmn", "bidaf", "dcn",
            "mac", "amem", "dialog-transformer"]
FAMILIES = ["absent", "another", "attribute", "choice", "comparison", "count", "exist", "relation",
            "superlative", "verify"]


def networks():
    """One schedule for all; the relevance of all candidates is learned, which takes fewest steps."""
    own = {"amem": {"image": "raw", "hidden": "64"}, "mac": {"image": "raw"},
           "dialog-transformer": {"embed": "96", "rate": "0.001"}}
    return {name: {**COMMON, **BASE, "optimiser": "adam", "network": name, "hidden": "96", "batch": "32",
                   "epochs": "12", "schedule": "cosine", "rate": "0.002", "clip": "1", "train-dense": None,
                   **own.get(name, {})} for name in NETWORKS}


def improved():
    """Base, each change alone, all, all but each."""
    plan = {"base": {}, "all": {k: v for change in CHANGES.values() for k, v in change.items()}}
    for name, change in CHANGES.items():
        rest = [c for other, c in CHANGES.items() if other != name]
        plan[name] = change
        plan["all but " + name] = {k: v for c in rest for k, v in c.items()}
    return {name: {**COMMON, "hidden": "96", "batch": "8", "epochs": "6", **BASE, **change}
            for name, change in plan.items()}


PLANS = {"networks": (networks, 3), "improved": (improved, 5)}


def options(settings, data):
    words = []
    for name, value in settings.items():
        if name == "train-dense":
            value = os.path.join(data, "train_dense.json")
        words += ["--" + name] if value is None else ["--" + name, value]
    return words


class Run:
    def __init__(self, given, plan, name, settings, seed):
        self.name, self.seed, self.given, self.settings = name, seed, given, settings
        self.directory = os.path.join(given.out, plan, f"{name.replace(' ', '-')}-{seed}")
        self.result = os.path.join(self.directory, "eval.json")

    def call(self, *words, output=None):
        environment = dict(os.environ)
        if self.given.jobs > 1:
            environment["OPENBLAS_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // self.given.jobs))
        with open(output or os.devnull, "w", encoding="utf-8") as out, \
                open(os.path.join(self.directory, "errors.txt"), "a", encoding="utf-8") as errors:
            subprocess.run([self.given.visdial, *words], stdout=out, stderr=errors, check=True,
                           env=environment)

    def train(self):
        if os.path.exists(os.path.join(self.directory, "checkpoint.safetensors")):
            self.call("train", "--out", self.directory, "--resume", "--quiet")
            return
        data = self.given.data
        self.call("train", "--data", os.path.join(data, "train.json"), "--features",
                  os.path.join(data, "train_features.safetensors"), "--out", self.directory, "--quiet",
                  "--seed", str(self.seed), *options(self.settings, data))

    def evaluate(self):
        data, kept = self.given.data, self.result + ".part"
        self.call("eval", "--model", os.path.join(self.directory, "model.safetensors"), "--data",
                  os.path.join(data, "val.json"), "--features",
                  os.path.join(data, "val_features.safetensors"), "--dense",
                  os.path.join(data, "val_dense.json"), "--ranks",
                  os.path.join(self.directory, "ranks.json"), "--resamples", "0", "--quiet", "--json",
                  output=kept)
        os.replace(kept, self.result)

    def do(self):
        if os.path.exists(self.result):
            return
        os.makedirs(self.directory, exist_ok=True)
        spent, start = self.seconds(), time.monotonic()
        try:
            self.train()
        finally:
            with open(os.path.join(self.directory, "seconds.txt"), "w", encoding="utf-8") as out:
                out.write(f"{spent + time.monotonic() - start:.0f}\n")
        self.evaluate()

    def seconds(self):
        try:
            with open(os.path.join(self.directory, "seconds.txt"), encoding="utf-8") as file:
                return float(file.read())
        except FileNotFoundError:
            return 0.0

    def scores(self):
        if not os.path.exists(self.result):
            return None
        with open(self.result, encoding="utf-8") as file:
            found = json.load(file)
        return {"correct@1": found["all"]["correct@1"], "MRR": found["all"]["mrr"], "NDCG": found["all"]["ndcg"],
                **{f: found["family"][f]["correct@1"] for f in FAMILIES if f in found["family"]}}

    def parameters(self):
        model = os.path.join(self.directory, "model.safetensors")
        told = subprocess.run([self.given.visdial, "info", model], capture_output=True, text=True, check=True)
        return next(line.split()[1] for line in told.stdout.splitlines() if line.startswith("parameters"))


def spread(values):
    mean = statistics.mean(values)
    return f"{mean:.3f}" + (f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else "")


def table(runs):
    columns = ["correct@1", "MRR", "NDCG"] + FAMILIES
    lines = ["| | runs | " + " | ".join(columns) + " | parameters | minutes |",
             "|---" * (len(columns) + 4) + "|"]
    for name in dict.fromkeys(run.name for run in runs):
        done = [run for run in runs if run.name == name and run.scores()]
        if not done:
            continue
        scores = [run.scores() for run in done]
        cells = [spread([s[c] for s in scores]) for c in columns[:3]]
        cells += [f"{statistics.mean([s[c] for s in scores]):.3f}" if c in scores[0] else "" for c in FAMILIES]
        minutes = statistics.mean([run.seconds() for run in done]) / 60
        lines.append(f"| {name} | {len(done)} | " + " | ".join(cells) +
                     f" | {done[0].parameters()} | {minutes:.0f} |")
    return "\n".join(lines)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", choices=sorted(PLANS))
    parser.add_argument("--data", required=True, help="directory of `visdial blocks make`")
    parser.add_argument("--out", required=True, help="directory of the runs")
    parser.add_argument("--visdial", default="build/visdial", help="the program (build/visdial)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once (1)")
    parser.add_argument("--seeds", type=int, help="seeds of each (that of the plan)")
    parser.add_argument("--only", action="append", help="only this row of the plan; may be given again")
    parser.add_argument("--table", action="store_true", help="train nothing, print what there is")
    return parser.parse_args()


def main():
    given = read_arguments()
    plan, seeds = PLANS[given.plan]
    rows = {name: s for name, s in plan().items() if not given.only or name in given.only}
    runs = [Run(given, given.plan, name, settings, seed + 1)
            for seed in range(given.seeds or seeds) for name, settings in rows.items()]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        pending = {pool.submit(run.do): run for run in ([] if given.table else runs)}
        for future in concurrent.futures.as_completed(pending):
            run = pending[future]
            if future.exception():
                failed.append(f"{run.directory}: {future.exception()} (see errors.txt there)")
            else:
                print(f"{run.name}, seed {run.seed}: correct@1 {run.scores()['correct@1']:.3f}", file=sys.stderr)
    print(table(runs))
    print(*failed, sep="\n", end="\n" if failed else "", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
