#!/usr/bin/env python3
"""PyTorch checkpoints of the public MVAN code to safetensors, and back. Needs PyTorch.

  checkpoint.py mvan.pth weights.safetensors        then: visdial import weights.safetensors ...
  checkpoint.py model.safetensors mvan.pth          names as the public code has them

A checkpoint is {"model": state_dict, ...} or a bare state_dict. Training of one model on several
GPUs puts "module." before every name; it is taken off. Back, every decoder gets the copy of the
embedding that the public modules share with the encoder, so that load_state_dict is content.
"""
import ctypes
import json
import os
import sys

import torch

TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
         "I64": torch.int64, "I32": torch.int32}
NAMES = {dtype: name for name, dtype in TYPES.items()}
WORDS = "encoder.word_embed.weight"


def state_dict_of(path):
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # whatever its zip and its pickle raise
        sys.exit(f"{path}: no checkpoint that PyTorch can read: {str(error).splitlines()[0]}")
    state = loaded.get("model", loaded) if isinstance(loaded, dict) else None
    if not isinstance(state, dict) or not state:
        sys.exit(f"{path}: expected a state_dict, or a dict with one under \"model\"")
    state = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    for name, tensor in state.items():
        if not isinstance(tensor, torch.Tensor) or tensor.dtype not in NAMES:
            sys.exit(f"{path}: {name} is {getattr(tensor, 'dtype', type(tensor).__name__)}; "
                     f"expected a tensor of {', '.join(TYPES)}")
    return state


def write_safetensors(path, state):
    header, at = {}, 0
    for name, tensor in state.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path + ".part", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in state.values():
            flat = tensor.detach().contiguous()
            file.write(ctypes.string_at(flat.data_ptr(), flat.numel() * flat.element_size()))
    os.replace(path + ".part", path)


def read_safetensors(path):
    try:
        with open(path, "rb") as file:
            header = json.loads(file.read(min(int.from_bytes(file.read(8), "little"), 100 << 20)))
            data = bytearray(file.read())
        tensors = {name: (TYPES[about["dtype"]], list(about["shape"]), *about["data_offsets"])
                   for name, about in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"{path}: no safetensors file: {type(error).__name__} {error}")
    state = {}
    for name, (dtype, shape, first, last) in tensors.items():
        if name.startswith("optimiser."):
            continue
        count = 1
        for size in shape:
            count *= size
        if last - first != count * torch.empty(0, dtype=dtype).element_size() or last > len(data):
            sys.exit(f"{path}: {name} has {last - first} bytes, which do not fit its shape")
        flat = torch.frombuffer(data, dtype=dtype, count=count, offset=first)
        state[name] = flat.reshape(shape).float().clone()
    return state


def add_copies(state):
    for decoder in ("decoder", "disc_decoder", "gen_decoder"):
        if any(name.startswith(decoder + ".") for name in state):
            state[decoder + ".word_embed.weight"] = state[WORDS]
    return state


def main(source, target):
    if target.endswith(".safetensors"):
        write_safetensors(target, state_dict_of(source))
    else:
        torch.save({"model": add_copies(read_safetensors(source))}, target)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
