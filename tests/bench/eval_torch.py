#!/usr/bin/env python3
"""PyTorch's half of bench_eval: scores dialogs one after the other, as the public code evaluates.

    eval_torch.py MODEL DIALOGS     then "FIRST COUNT" a line on stdin; milliseconds and the sum of
                                    the human answers' ranks on stdout
"""
import os
import sys
import time

import torch

from mvan_torch import load, read_safetensors


def ranks_of(scores, truth):
    own = scores.gather(-1, truth[..., None])
    return (scores > own).sum(-1) + ((scores == own).sum(-1) + 1) / 2


def main():
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    model = load(sys.argv[1])[0].eval()
    _, dialogs = read_safetensors(sys.argv[2])
    with torch.no_grad():
        for line in sys.stdin:
            first, count = map(int, line.split())
            total = 0.0
            start = time.perf_counter()
            for i in range(first, first + count):
                one = {name: tensor[i:i + 1] for name, tensor in dialogs.items()}
                total += ranks_of(model(one)[0], one["gt_index"]).sum().item()
            print("%.3f %.1f" % ((time.perf_counter() - start) * 1e3, total), flush=True)


if __name__ == "__main__":
    main()
