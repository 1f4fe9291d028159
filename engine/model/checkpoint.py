#!/usr/bin/env python3
"""PyTorch checkpoints of the public MVAN code to safetensors, and back.

  checkpoint.py mvan.pth weights.safetensors        then: visdial import weights.safetensors ...
  checkpoint.py model.safetensors mvan.pth          names as the public code has them

A checkpoint is {"model": state_dict, ...} or a bare state_dict. Training of one model on several
GPUs puts "module." before every name; it is taken off. Back, every decoder gets the copy of the
embedding that the public modules share with the encoder, so that load_state_dict is content.

Reading a checkpoint needs no PyTorch: its zip files and the format before them are read here, and
nothing in them is executed. Whatever else than tensors a checkpoint has, an optimizer's state or
the settings of the training, becomes an object that can do nothing. Writing one needs PyTorch.
"""
import collections
import io
import json
import os
import pickle
import stat
import sys
import zipfile

WORDS = "encoder.word_embed.weight"
# What safetensors calls the storages, and the bytes of a number.
STORAGES = {"DoubleStorage": ("F64", 8), "FloatStorage": ("F32", 4), "HalfStorage": ("F16", 2),
            "BFloat16Storage": ("BF16", 2), "LongStorage": ("I64", 8), "IntStorage": ("I32", 4)}
# Others have a place in a file of the format before zip, too.
WIDTHS = {**{name: width for name, (_, width) in STORAGES.items()},
          "ByteStorage": 1, "CharStorage": 1, "BoolStorage": 1, "QInt8Storage": 1,
          "QUInt8Storage": 1, "ShortStorage": 2, "QInt32Storage": 4, "ComplexFloatStorage": 8,
          "ComplexDoubleStorage": 16}
MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # of the format before zip


class Damaged(Exception):
    """The file is not what it should be."""


class Inert:
    """Stands for whatever a checkpoint names that is not a tensor."""

    def __init__(self, *args, **named):
        pass

    def __call__(self, *args, **named):
        return Inert()

    __setstate__ = __setitem__ = append = extend = add = __init__


class Kind:
    """The class of a storage."""

    def __init__(self, name):
        self.name = name


class Storage:
    """Numbers of one kind, `numel` of them from number `offset` of the bytes that `read` gives."""

    def __init__(self, kind, read, numel, offset=0):
        self.kind, self.read, self.numel, self.offset = kind, read, numel, offset


class Tensor:
    """A view of a storage."""

    def __init__(self, storage, offset, size, stride):
        whole = all(isinstance(n, int) and n >= 0 for n in (offset, *size, *stride))
        if not isinstance(storage, Storage) or not whole or len(size) != len(stride):
            raise Damaged("a tensor of something that is no storage")
        last = sum((n - 1) * step for n, step in zip(size, stride))
        if 0 not in size and offset + last >= storage.numel:
            raise Damaged("a tensor that goes beyond its storage")
        self.storage, self.offset, self.shape, self.stride = storage, offset, list(size), stride

    def bytes(self):
        """Its numbers without gaps, in row order."""
        width = STORAGES[self.storage.kind][1]
        first = (self.storage.offset + self.offset) * width
        data = memoryview(self.storage.read())
        if 0 in self.shape:
            return b""
        dense, step = True, 1
        for n, stride in zip(reversed(self.shape), reversed(self.stride)):
            dense, step = dense and (n == 1 or stride == step), step * n
        last = sum((n - 1) * stride for n, stride in zip(self.shape, self.stride))
        if first + (last + 1) * width > len(data):
            raise Damaged("a storage that is cut short")
        if dense:
            return data[first:first + step * width]
        numbers = data[first:first + (last + 1) * width].cast({8: "q", 4: "i", 2: "h"}[width])
        out = io.BytesIO()
        self.gather(numbers, 0, 0, out)
        return out.getvalue()

    def gather(self, numbers, axis, at, out):
        n, stride = self.shape[axis], self.stride[axis]
        if axis == len(self.shape) - 1 and stride > 0:
            out.write(numbers[at:at + (n - 1) * stride + 1:stride].tobytes())
        elif axis == len(self.shape) - 1:
            out.write(numbers[at:at + 1].tobytes() * n)
        else:
            for i in range(n):
                self.gather(numbers, axis + 1, at + i * stride, out)


def refuse(text):
    """Ends with a message. What controls a terminal or hides is not of use in one."""
    sys.exit("".join(c if c.isprintable() else "?" for c in text))


def rebuild_tensor(storage, offset, size, stride, *_):
    return Tensor(storage, offset, size, stride)


def rebuild_parameter(data, *_):
    return data


REBUILD = {"_rebuild_tensor": rebuild_tensor, "_rebuild_tensor_v2": rebuild_tensor,
           "_rebuild_parameter": rebuild_parameter,
           "_rebuild_parameter_with_state": rebuild_parameter}


class Unpickler(pickle.Unpickler):
    """Knows tensors; any other name of a checkpoint gives something inert."""

    def __init__(self, file, storage):
        super().__init__(file, encoding="utf-8")
        self.storage = storage

    def find_class(self, module, name):
        if module == "torch._utils" and name in REBUILD:
            return REBUILD[name]
        if module in ("torch", "torch.storage") and name.endswith("Storage"):
            return Kind(name)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        return Inert

    def persistent_load(self, pid):
        if isinstance(pid, tuple) and pid and pid[0] == "storage" and len(pid) in (5, 6):
            _, kind, key, _, numel, *view = pid
            if isinstance(kind, Kind) and isinstance(numel, int):
                return self.storage(kind.name, str(key), numel, view[0] if view else None)
        return Inert()  # the source of a module, in old files


def read_zip(file):
    archive = zipfile.ZipFile(file)
    name = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
    if not name:
        raise Damaged("a zip file without data.pkl")
    folder = name[:-len("data.pkl")]
    if folder + "byteorder" in archive.namelist() and (
            archive.read(folder + "byteorder") != b"little"):
        raise Damaged("numbers of a big-endian machine")

    def storage(kind, key, numel, _):
        return Storage(kind, lambda: archive.read(f"{folder}data/{key}"), numel)
    with archive.open(name) as data:
        return Unpickler(io.BytesIO(data.read()), storage).load()


def read_legacy(file):
    """Pickles of a magic number, a protocol, the machine, the object, and its storages' keys; then
    each storage as its length and its numbers."""
    storages, places = {}, {}

    def storage(kind, key, numel, view):
        root, offset, count = key, 0, numel
        if view:  # a part of another storage
            _, offset, count = view
        storages.setdefault(root, (kind, numel))
        return Storage(kind, lambda: read_place(root), count, offset)

    def read_place(key):
        if key not in places:
            raise Damaged(f"no storage {key}")
        file.seek(places[key][0])
        return file.read(places[key][1])

    if Unpickler(file, storage).load() != MAGIC or Unpickler(file, storage).load() != PROTOCOL:
        raise Damaged("neither a zip file nor PyTorch's format before it")
    machine = Unpickler(file, storage).load()
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise Damaged("numbers of a big-endian machine")
    loaded, keys = Unpickler(file, storage).load(), Unpickler(file, storage).load()
    for key in keys:
        numel = int.from_bytes(file.read(8), "little")
        kind, expected = storages.get(str(key), ("FloatStorage", numel))
        if numel != expected:
            raise Damaged(f"a storage of {numel} numbers where {expected} are expected")
        if kind not in WIDTHS:
            raise Damaged(f"numbers of an unknown kind, {kind}")
        size = numel * WIDTHS[kind]
        places[str(key)] = file.tell(), size
        file.seek(size, os.SEEK_CUR)
    return loaded


def state_dict_of(path, file):
    try:
        zipped = file.read(4) == b"PK\3\4"
        file.seek(0)
        loaded = read_zip(file) if zipped else read_legacy(file)
    except Exception as error:  # whatever a damaged zip or pickle raises
        words = (str(error) or type(error).__name__).splitlines()[0]
        refuse(f"{path}: no checkpoint that can be read: {words}")
    state = loaded.get("model", loaded) if isinstance(loaded, dict) else None
    if not isinstance(state, dict) or not state:
        refuse(f"{path}: expected a state_dict, or a dict with one under \"model\"")
    state = {str(name).removeprefix("module."): tensor for name, tensor in state.items()}
    for name, tensor in state.items():
        if not isinstance(tensor, Tensor) or tensor.storage.kind not in STORAGES:
            kind = tensor.storage.kind if isinstance(tensor, Tensor) else type(tensor).__name__
            refuse(f"{path}: {name} is {kind}; expected a tensor of {', '.join(STORAGES)}")
    return state


def replace_file(path, write):
    """The file is there as a whole or not at all. A link to a file is followed, one at the temporary
    name is not; the mode of a file that is replaced is kept."""
    try:
        place = os.path.realpath(path)
        there = os.path.exists(place)
        if there and not os.path.isfile(place):
            refuse(f"{path}: exists and is not a file")
        part = place + ".part"
        if os.path.lexists(part):  # left over
            os.remove(part)
        mode = 0o600 if there else 0o666
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            try:
                write(file)
                file.flush()
                os.fsync(file.fileno())
                if there:
                    os.chmod(part, stat.S_IMODE(os.stat(place).st_mode))
                os.replace(part, place)
            except BaseException:
                os.remove(part)
                raise
    except OSError as error:
        refuse(f"{path}: cannot be written: {error.strerror or error}")


def write_safetensors(path, source, state):
    header, at = {}, 0
    for name, tensor in state.items():
        kind, size = STORAGES[tensor.storage.kind]
        for n in tensor.shape:
            size *= n
        header[name] = {"dtype": kind, "shape": tensor.shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)

    def write(file):
        file.write(len(text).to_bytes(8, "little") + text)
        for name, tensor in state.items():
            try:
                data = tensor.bytes()
            except Exception as error:  # whatever a damaged zip raises
                refuse(f"{source}: {name}: {error}")
            file.write(data)
    replace_file(path, write)


# Before PyTorch is asked for: a checkpoint is read without it.
def check_safetensors(path):
    try:
        with open(path, "rb") as file:
            why = "" if file.read(9)[8:] == b"{" else "it begins otherwise"
    except OSError as error:
        why = error.strerror
    if why:
        refuse(f"{path}: no safetensors file: {why}; to convert a checkpoint, name the output "
               "NAME.safetensors")


def read_safetensors(path):
    import torch
    types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16,
             "BF16": torch.bfloat16, "I64": torch.int64, "I32": torch.int32}
    try:
        with open(path, "rb") as file:
            header = json.loads(file.read(min(int.from_bytes(file.read(8), "little"), 100 << 20)))
            data = bytearray(file.read())
        tensors = {name: (types[about["dtype"]], list(about["shape"]), *about["data_offsets"])
                   for name, about in header.items() if name != "__metadata__"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        refuse(f"{path}: no safetensors file: {type(error).__name__} {error}")
    state = {}
    for name, (dtype, shape, first, last) in tensors.items():
        if name.startswith("optimiser."):
            continue
        count = 1
        for size in shape:
            count *= size
        if last - first != count * torch.empty(0, dtype=dtype).element_size() or last > len(data):
            refuse(f"{path}: {name} has {last - first} bytes, which do not fit its shape")
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
        try:
            if os.path.exists(source) and not os.path.isfile(source):
                refuse(f"{source}: is a directory, a device or a pipe; a file is expected")
            file = open(source, "rb")
        except OSError as error:
            refuse(f"{source}: no checkpoint that can be read: {error.strerror}")
        with file:
            write_safetensors(target, source, state_dict_of(source, file))
        return
    check_safetensors(source)
    try:
        import torch
    except ImportError:
        refuse(f"{target}: writing a checkpoint needs PyTorch: pip install torch")
    checkpoint = {"model": add_copies(read_safetensors(source))}
    replace_file(target, lambda file: torch.save(checkpoint, file))


if __name__ == "__main__":
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__.strip())
        sys.exit()
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
