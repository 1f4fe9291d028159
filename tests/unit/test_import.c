// Checkpoints of the public code become models and go back: bare state_dicts with one decoder and
// with two against the golden numbers, what does not fit refused by name, and PyTorch itself where
// a Python with the package `torch` is there ($VISDIAL_PYTHON, else python3).
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/alloc.h"
#include "engine/model/import.h"
#include "engine/model/pool.h"
#include "tests/support/golden.h"
#include "tests/support/must.h"
#include "tests/support/program.h"
#include "tests/support/random_model.h"
#include "tests/support/small_batch.h"
#include "tests/support/support.h"

static char *directory, *weights, *out;

static int make(void **state)
{
    (void)state;
    directory = support_temp_dir();
    weights = support_join(directory, "weights.safetensors");
    out = support_join(directory, "model.safetensors");
    return 0;
}

static int clean(void **state)
{
    (void)state;
    support_remove_tree(directory);
    free(weights);
    free(out);
    free(directory);
    return 0;
}

static vd_vocab *words_of(int count)
{
    char word[64][8];
    const char *list[64];
    vd_vocab *vocab;
    vd_error err;
    for (int i = 0; i < count - VD_FIRST_WORD; i++) {
        snprintf(word[i], sizeof word[i], "w%d", i);
        list[i] = word[i];
    }
    must(vd_vocab_from_words(list, (size_t)(count - VD_FIRST_WORD), &vocab, &err), &err);
    return vocab;
}

typedef struct change {
    const char *without, *extra; // names
    int wrong_shape;             // of tensor n - 1
    bool other_copy;             // the decoder's embedding is another
    int damaged;                 // the last number of tensor n - 1 is `number`
    float number;
} change;

// The golden weights as the public code saves them: no metadata, embeddings once a decoder.
static void write_bare(const golden *g, const change *c)
{
    vd_safetensors_writer *writer;
    vd_error err;
    const vd_layout *layout = &g->layout;
    const vd_parameter *words = &layout->parameter[0];
    bool two = g->config.decoders == VD_BOTH;
    const char *copies[2] = {two ? "disc_decoder.word_embed.weight" : "decoder.word_embed.weight",
                             two ? "gen_decoder.word_embed.weight" : NULL};
    const vd_parameter *damaged = c->damaged ? &layout->parameter[c->damaged - 1] : NULL;
    float *last = damaged ? g->block + damaged->offset + damaged->elements - 1 : NULL;
    float whole = last ? *last : 0;
    if (last)
        *last = c->number;
    must(vd_safetensors_create(weights, &writer, &err), &err);
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < layout->count; k++) {
            const vd_parameter *p = &layout->parameter[k];
            if (c->without && strcmp(c->without, p->name) == 0)
                continue;
            size_t shape[2] = {p->shape[0] + (c->wrong_shape == k + 1), p->shape[1]};
            size_t more = c->wrong_shape == k + 1 ? p->elements / p->shape[0] : 0;
            must(pass == 0 ? vd_safetensors_declare(writer, p->name, VD_F32, p->dims, shape, &err)
                           : vd_safetensors_append_floats(writer, g->block + p->offset, p->elements,
                                                          &err),
                 &err);
            if (pass && more)
                must(vd_safetensors_append_floats(writer, g->block + p->offset, more, &err), &err);
        }
        for (int i = 0; i < 2 && copies[i]; i++)
            must(pass == 0
                     ? vd_safetensors_declare(writer, copies[i], VD_F32, 2, words->shape, &err)
                     : vd_safetensors_append_floats(writer, g->block + (c->other_copy ? 1 : 0),
                                                    words->elements, &err),
                 &err);
        if (c->extra)
            must(pass == 0
                     ? vd_safetensors_declare(writer, c->extra, VD_F32, 1, (size_t[]){1}, &err)
                     : vd_safetensors_append_floats(writer, g->block, 1, &err),
                 &err);
    }
    must(vd_safetensors_commit(writer, &err), &err);
    if (last)
        *last = whole;
}

static vd_status import(const golden *g, int words, vd_error *err)
{
    vd_vocab *vocab = words_of(words ? words : g->config.vocab);
    vd_import_options options = {.gate = VD_GATE_LEAKY_RELU, .pool = "answers.txt"};
    vd_status status = vd_model_import(weights, vocab, &options, out, err);
    vd_vocab_free(vocab);
    return status;
}

static void check_scores(golden *g, const vd_model *model, vd_decoders by, const char *name)
{
    size_t n = (size_t)(g->batch.dialogs * g->batch.rounds * g->batch.candidates);
    float *expected = golden_floats(g, name, n), *scores = vd_alloc(n, sizeof *scores);
    vd_error err;
    vd_arena arena = {0};
    must(vd_model_scores(model, by, &arena, NULL, &g->batch, scores, &err), &err);
    vd_arena_free(&arena);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(scores[i] - expected[i]) <= 1e-5f))
            fail_msg("%s[%zu]: %.9g, expected %.9g", name, i, (double)scores[i],
                     (double)expected[i]);
    vd_free(scores);
    vd_free(expected);
}

static void check_imported(golden *g)
{
    vd_model *model;
    vd_error err;
    must(vd_model_load(out, &model, &err), &err);
    const vd_config *config = vd_model_config(model);
    assert_memory_equal(config, &g->config, sizeof *config);
    assert_string_equal(vd_model_metadata(model, "pool"), "answers.txt");
    if (vd_has_discriminative(config->decoders))
        check_scores(g, model, VD_DISCRIMINATIVE, "out.disc_scores");
    if (vd_has_generative(config->decoders))
        check_scores(g, model, VD_GENERATIVE, "out.gen_scores");
    vd_model_free(model);
}

static void scores_as_the_public_code(const char *file)
{
    // (The golden files have the generative decoder beside another only.)
    static const vd_decoders decoders[] = {VD_DISCRIMINATIVE, VD_BOTH};
    for (int i = 0; i < 2; i++) {
        golden g;
        vd_error err;
        golden_open(&g, file, decoders[i]);
        write_bare(&g, &(change){0});
        must(import(&g, 0, &err), &err);
        check_imported(&g);
        golden_close(&g);
    }
}

static void a_tiny_imported_model_scores_as_the_public_code(void **state)
{
    (void)state;
    scores_as_the_public_code("mvan_tiny.safetensors");
}

static void a_small_imported_model_scores_as_the_public_code(void **state)
{
    (void)state;
    scores_as_the_public_code("mvan_small.safetensors");
}

static void refused(const golden *g, const change *c, int words, const char *what)
{
    vd_error err;
    remove(out);
    write_bare(g, c);
    support_refused(import(g, words, &err), VD_MISMATCH, &err, weights, what, NULL);
    assert_false(support_exists(out));
}

static void what_does_not_fit_is_refused_by_name(void **state)
{
    (void)state;
    golden g;
    golden_open(&g, "mvan_tiny.safetensors", VD_DISCRIMINATIVE);
    for (int k = 0; k < g.layout.count; k++) {
        const char *name = g.layout.parameter[k].name;
        // These two say how large everything is, and a decoder that it is there.
        bool sizes = k == 0 || strcmp(name, "encoder.fusion.1.weight") == 0;
        bool decoder = strcmp(name, "decoder.option_rnn.rnn_model.weight_ih_l0") == 0;
        refused(&g, &(change){.without = name}, 0, decoder ? "no decoder in it" : name);
        refused(&g, &(change){.wrong_shape = k + 1}, 0,
                k == 0  ? "24 rows"
                : sizes ? "expected"
                        : name);
    }
    refused(&g, &(change){.extra = "encoder.more"}, 0, "encoder.more");
    refused(&g, &(change){.other_copy = true}, 0, "decoder.word_embed.weight");
    refused(&g, &(change){0}, g.config.vocab + 1, "23 rows, the vocabulary 24 words");
    golden_close(&g);
}

// Wherever it is: an infinite weight need not show in what the network computes.
static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    static const float numbers[] = {NAN, INFINITY, -INFINITY};
    golden g;
    vd_error err;
    golden_open(&g, "mvan_tiny.safetensors", VD_DISCRIMINATIVE);
    for (int k = 1; k < g.layout.count; k++) { // the first is also the decoder's
        write_bare(&g, &(change){.damaged = k + 1, .number = numbers[k % 3]});
        remove(out);
        support_refused(import(&g, 0, &err), VD_FORMAT, &err, weights, g.layout.parameter[k].name,
                        "not a finite number", NULL);
        assert_false(support_exists(out));
    }
    // In half precision these are infinite.
    vd_vocab *vocab = words_of(g.config.vocab);
    vd_import_options options = {.half = true};
    write_bare(&g, &(change){.damaged = 3, .number = -70000});
    support_refused(vd_model_import(weights, vocab, &options, out, &err), VD_FORMAT, &err, weights,
                    g.layout.parameter[2].name, "-70000", "half precision", NULL);
    assert_false(support_exists(out));
    vd_vocab_free(vocab);
    golden_close(&g);
}

static float *scores_of(const char *path, vd_config *config)
{
    const vd_batch *batch = small_batch();
    size_t n = (size_t)(batch->dialogs * batch->rounds * batch->candidates);
    float *scores = vd_alloc(n, sizeof *scores);
    vd_model *model;
    vd_arena arena = {0};
    vd_error err;
    must(vd_model_load(path, &model, &err), &err);
    *config = *vd_model_config(model);
    must(
        vd_model_scores(model, vd_model_config(model)->decoders, &arena, NULL, batch, scores, &err),
        &err);
    vd_arena_free(&arena);
    vd_model_free(model);
    return scores;
}

// The challenge's baseline: what the network is, and how it reads answers, follow from the tensors.
static void the_baseline_with_regions_is_known_by_its_tensors(void **state)
{
    (void)state;
    for (int decoders = VD_DISCRIMINATIVE; decoders <= VD_GENERATIVE; decoders++) {
        vd_config config = {.network = VD_NETWORK_LF_BU,
                            .vocab = SMALL_VOCAB,
                            .embed = 6,
                            .hidden = 8,
                            .region = SMALL_REGION,
                            .decoders = (vd_decoders)decoders,
                            .boundaries = decoders == VD_DISCRIMINATIVE ? VD_BOUNDARIES_NONE
                                                                        : VD_BOUNDARIES_BOTH},
                  found;
        vd_vocab *vocab = small_vocab();
        vd_import_options options = {.pool = "answers.txt"};
        vd_error err;
        const vd_batch *batch = small_batch();
        size_t bytes = (size_t)(batch->dialogs * batch->rounds * batch->candidates) * sizeof(float);
        support_write_random_model(&config, weights);
        must(vd_model_import(weights, vocab, &options, out, &err), &err);
        float *expected = scores_of(weights, &found), *scores = scores_of(out, &found);
        assert_memory_equal(&found, &config, sizeof config);
        assert_memory_equal(scores, expected, bytes);
        vd_free(expected);
        vd_free(scores);
        vd_vocab_free(vocab);
    }
}

static vd_vocab *shared_words;

static vd_status import_here(void *context, vd_error *err)
{
    vd_import_options options = {.pool = "answers.txt", .half = true};
    (void)context;
    return vd_model_import(weights, shared_words, &options, out, err);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    golden g;
    golden_open(&g, "mvan_tiny.safetensors", VD_BOTH);
    write_bare(&g, &(change){0});
    shared_words = words_of(g.config.vocab);
    assert_true(support_fail_each_allocation(import_here, NULL) > 10);
    vd_vocab_free(shared_words);
    golden_close(&g);
}

static void the_command_imports(void **state)
{
    (void)state;
    golden g;
    support_program run;
    char *counts = support_join(directory, "counts.json"), text[400] = "{";
    golden_open(&g, "mvan_tiny.safetensors", VD_DISCRIMINATIVE);
    write_bare(&g, &(change){0});
    for (int i = 0; i < g.config.vocab - VD_FIRST_WORD; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"w%d\": %d", i ? ", " : "", i,
                 100 - i);
    snprintf(text + strlen(text), sizeof text - strlen(text), ", \"rare\": 4}");
    support_write_text(counts, text);
    const char *good[] = {"import", weights,  "--words",     counts,    "--out",
                          out,      "--pool", "answers.txt", "--force", NULL};
    support_program_run(&run, good, NULL);
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    check_imported(&g);
    const char *itself[] = {"import", weights, "--words", counts, "--out", weights, NULL};
    support_program_run(&run, itself, NULL);
    support_program_expect(&run, 2, "would overwrite", "which is read", NULL);
    support_program_clear(&run);
    char *again = support_join(directory, "again.safetensors");
    const char *model[] = {"import", out, "--words", counts, "--out", again, NULL};
    support_program_run(&run, model, NULL); // its gate and positions would become others
    support_program_expect(&run, 4, out, "a model already", NULL);
    support_program_clear(&run);
    free(again);
    const char *without[] = {"import", weights, "--out", out, NULL};
    support_program_run(&run, without, NULL);
    support_program_expect(&run, 2, "--words is missing", NULL);
    support_program_clear(&run);
    const char *ask[] = {"info", weights, NULL};
    support_program_run(&run, ask, NULL); // a bare file is no model, but can be looked at
    support_program_expect(&run, 0, NULL);
    support_program_clear(&run);
    golden_close(&g);
    free(counts);
}

// ---- PyTorch ------------------------------------------------------------------------------------

static int run_python(const char *arguments)
{
    const char *python = getenv("VISDIAL_PYTHON");
    char command[8000];
    snprintf(command, sizeof command, "cd '%s' && %s %s", directory, python ? python : "python3",
             arguments);
    return system(command);
}

// The script names the file, and says in one line what is wrong. In one process: importing PyTorch
// takes seconds.
static void damaged_checkpoints_are_refused(const char *script)
{
    static const char text[] =
        "import runpy, sys, torch\n"
        "write = lambda name, data: open(name, 'wb').write(data)\n"
        "torch.save({'a': torch.zeros(99)}, 'whole.pth')\n"
        "whole = open('whole.pth', 'rb').read()\n"
        "torch.save([1, 2], 'list.pth')\n"
        "torch.save({'model': {}}, 'empty.pth')\n"
        "torch.save({'model': {'a.b': 3}}, 'number.pth')\n"
        "torch.save({'a.b': torch.zeros(2, dtype=torch.int8)}, 'bytes.pth')\n"
        "write('cut.pth', whole[:300])\n"
        "write('text.pth', b'no checkpoint')\n"
        "write('short.st', b'short')\n"
        "write('list.st', b'\\2' + bytes(7) + b'[]')\n"
        "write('flat.st', b'\\7' + bytes(7) + b'{\"a\":7}')\n"
        "none, odd = 'no checkpoint that can be read', 'no safetensors file'\n"
        "for name, said in (('nowhere.pth', none), ('list.pth', 'a state_dict'),\n"
        "                   ('empty.pth', 'a state_dict'), ('number.pth', 'a.b is int'),\n"
        "                   ('bytes.pth', 'a.b is CharStorage'), ('cut.pth', none),\n"
        "                   ('text.pth', none), ('nowhere.st', odd), ('short.st', odd),\n"
        "                   ('list.st', odd), ('flat.st', odd)):\n"
        "    sys.argv = [script, name, 'out.safetensors' if name.endswith('pth') else 'out.pth']\n"
        "    try:\n"
        "        runpy.run_path(script, run_name='__main__')\n"
        "        sys.exit(name + ' was accepted')\n"
        "    except SystemExit as end:\n"
        "        words = str(end.code)\n"
        "        if not words.startswith(name + ': ') or said not in words or '\\n' in words:\n"
        "            raise\n";
    char *path = support_join(directory, "damage.py");
    size_t size = sizeof text + PATH_MAX + 32;
    char *whole = malloc(size);
    snprintf(whole, size, "script = '%s'\n%s", script, text);
    support_write_text(path, whole);
    assert_int_equal(run_python("damage.py"), 0);
    free(whole);
    free(path);
}

// Checkpoints as the public code saves them, written here without PyTorch: beside the model the
// optimizer's state and the settings of the training, among them what would run a command.
static const char checkpoint_maker[] =
    "import argparse, collections, io, json, os, pickle, sys, types, zipfile\n"
    "torch, utils = types.ModuleType('torch'), types.ModuleType('torch._utils')\n"
    "sys.modules.update({'torch': torch, 'torch._utils': utils})\n"
    "class FloatStorage: __module__ = 'torch'\n"
    "class LongStorage: __module__ = 'torch'\n"
    "class ByteStorage: __module__ = 'torch'\n"
    "torch.FloatStorage, torch.LongStorage = FloatStorage, LongStorage\n"
    "torch.ByteStorage = ByteStorage\n"
    "def _rebuild_tensor_v2(*a): pass\n"
    "def _rebuild_parameter(*a): pass\n"
    "for f in (_rebuild_tensor_v2, _rebuild_parameter):\n"
    "    f.__module__ = 'torch._utils'\n"
    "    setattr(utils, f.__name__, f)\n"
    "class Storage:\n"
    "    def __init__(self, data, kind=FloatStorage, width=4):\n"
    "        self.data, self.kind, self.numel = data, kind, len(data) // width\n"
    "class Tensor:\n"
    "    def __init__(self, storage, size, stride, offset=0):\n"
    "        self.args = storage, offset, size, stride, False, collections.OrderedDict()\n"
    "    def __reduce__(self): return _rebuild_tensor_v2, self.args\n"
    "class Parameter:\n"
    "    def __init__(self, tensor): self.tensor = tensor\n"
    "    def __reduce__(self):\n"
    "        return _rebuild_parameter, (self.tensor, True, collections.OrderedDict())\n"
    "class Command:\n"
    "    def __reduce__(self): return os.system, ('touch executed',)\n"
    "raw = open('weights.safetensors', 'rb').read()\n"
    "size = int.from_bytes(raw[:8], 'little')\n"
    "state, data = collections.OrderedDict(), raw[8 + size:]\n"
    "for i, (name, about) in enumerate(json.loads(raw[8:8 + size]).items()):\n"
    "    if name == '__metadata__': continue\n"
    "    shape, (a, b) = tuple(about['shape']), about['data_offsets']\n"
    "    rows, part = shape[0], data[a:b]\n"
    "    if len(shape) == 2 and i % 3 == 0:\n" // as a transposed view
    "        numbers = memoryview(part).cast('i')\n"
    "        part = b''.join(numbers[c::shape[1]].tobytes() for c in range(shape[1]))\n"
    "        tensor = Tensor(Storage(part), shape, (1, rows))\n"
    "    elif i % 3 == 1:\n" // in the middle of a storage
    "        stride = (shape[1], 1) if len(shape) == 2 else (1,)\n"
    "        tensor = Tensor(Storage(bytes(20) + part + bytes(4)), shape, stride, 5)\n"
    "    else:\n"
    "        stride = (shape[1], 1) if len(shape) == 2 else (1,)\n"
    "        tensor = Parameter(Tensor(Storage(part), shape, stride))\n"
    "    state['module.' * (i % 2) + name] = tensor\n"
    "step = Tensor(Storage(bytes(8), LongStorage, 8), (), ())\n"
    "rng = Tensor(Storage(bytes(5), ByteStorage, 1), (5,), (1,))\n"
    "none = Tensor(Storage(b''), (0,), (1,))\n"
    "whole = {'rng': rng, 'none': none, 'model': state, 'optimizer': {'state': {0: {'step': step, "
    "'exp_avg': step}},\n"
    "         'param_groups': [{'lr': 1e-3, 'betas': (0.9, 0.999), 'params': [0]}]},\n"
    "         'args': argparse.Namespace(lr=1), 'epoch': 3, 'schedule': collections.Counter('a'),\n"
    "         'command': Command()}\n"
    "class Pickler(pickle.Pickler):\n"
    "    def __init__(self, file, legacy):\n"
    "        super().__init__(file, 2)\n"
    "        self.storages, self.legacy = {}, legacy\n"
    "    def persistent_id(self, thing):\n"
    "        if not isinstance(thing, Storage): return None\n"
    "        key = str(id(thing))\n"
    "        self.storages[key] = thing\n"
    "        return ('storage', thing.kind, key, 'cuda:0', thing.numel) + self.legacy * (None,)\n"
    "def save_zip(name):\n"
    "    file = io.BytesIO()\n"
    "    pickler = Pickler(file, False)\n"
    "    pickler.dump(whole)\n"
    "    with zipfile.ZipFile(name, 'w') as archive:\n"
    "        archive.writestr('mvan/data.pkl', file.getvalue())\n"
    "        archive.writestr('mvan/byteorder', 'little')\n"
    "        for key, storage in pickler.storages.items():\n"
    "            archive.writestr('mvan/data/' + key, storage.data)\n"
    "def save_legacy(name):\n"
    "    with open(name, 'wb') as file:\n"
    "        for thing in 0x1950a86a20f9469cfc6c, 1001, {'little_endian': True}:\n"
    "            pickle.dump(thing, file, 2)\n"
    "        pickler = Pickler(file, True)\n"
    "        pickler.dump(whole)\n"
    "        pickle.dump(list(pickler.storages), file, 2)\n"
    "        for storage in pickler.storages.values():\n"
    "            file.write(storage.numel.to_bytes(8, 'little') + storage.data)\n"
    "save_zip('zip.pth')\n"
    "save_legacy('legacy.pth')\n"
    "for name in 'zip.pth', 'legacy.pth':\n"
    "    file = open(name, 'rb').read()\n"
    "    for i, part in enumerate((file[:len(file) // 3], file[:-len(file) // 3])):\n"
    "        open(f'cut{i}_' + name, 'wb').write(part)\n"
    "state['x'] = Tensor(Storage(bytes(8)), (3,), (1,))\n"
    "save_zip('beyond.pth')\n"
    "whole['model'] = Command()\n"
    "save_zip('command.pth')\n";

// The script makes weights of it, which score as the public code does.
static void expect_read(golden *g, const char *script, const char *checkpoint)
{
    char line[PATH_MAX + 100];
    vd_error err;
    remove(weights);
    remove(out);
    snprintf(line, sizeof line, "%s %s weights.safetensors", script, checkpoint);
    assert_int_equal(run_python(line), 0);
    must(import(g, 0, &err), &err);
    check_imported(g);
}

static void public_checkpoints_are_read_without_pytorch(void **state)
{
    (void)state;
    if (run_python("--version >/dev/null 2>&1") != 0)
        support_skip("python3");
    char here[PATH_MAX], line[PATH_MAX + 400];
    char *maker = support_join(directory, "maker.py"), *mark = support_join(directory, "executed");
    assert_non_null(realpath("engine/model/checkpoint.py", here));
    support_write_text(maker, checkpoint_maker);
    golden g;
    golden_open(&g, "mvan_tiny.safetensors", VD_BOTH);
    write_bare(&g, &(change){0});
    assert_int_equal(run_python("maker.py"), 0);
    expect_read(&g, here, "zip.pth");
    expect_read(&g, here, "legacy.pth");
    static const char *const bad[] = {"cut0_zip.pth",    "cut1_zip.pth", "cut0_legacy.pth",
                                      "cut1_legacy.pth", "beyond.pth",   "command.pth",
                                      "maker.py",        "nowhere.pth"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        remove(weights);
        snprintf(line, sizeof line,
                 "%s %s weights.safetensors 2>words; test $? = 1 && grep -q '^%s: ' words && "
                 "test $(wc -l <words) = 1",
                 here, bad[i], bad[i]);
        if (run_python(line) != 0)
            fail_msg("%s: accepted, or not refused in one line", bad[i]);
        assert_false(support_exists(weights));
    }
    assert_false(support_exists(mark));
    golden_close(&g);
    free(mark);
    free(maker);
}

// Of the test before: zip.pth. The exit code says what does not hold.
static const char writes_whole_files[] =
    "reader() { timeout 20 python3 \"$READER\" \"$@\" 2>words; }\n"
    "says() { test $? = 1 && grep -q \"$1\" words && test $(wc -l <words) = 1; }\n"
    "cd \"$PLACE\" && echo precious >precious && reader zip.pth weights.safetensors || exit 1\n"
    "cp weights.safetensors x.safetensors || exit 1\n"
    "rm -f fifo; mkfifo fifo; reader fifo y.safetensors; says 'fifo: .*pipe' || exit 2\n"
    "chmod 600 x.safetensors; ln -sf x.safetensors link.safetensors\n"
    "ln -sf precious x.safetensors.part; reader zip.pth link.safetensors || exit 3\n"
    "test \"$(cat precious)\" = precious && test -L link.safetensors || exit 4\n"
    "test $(stat -c %a x.safetensors) = 600 && cmp -s x.safetensors weights.safetensors || exit 5\n"
    "test ! -e x.safetensors.part || exit 6\n"
    "(ulimit -f 1; reader zip.pth x.safetensors); says 'x.safetensors: cannot be written' || exit "
    "7\n"
    "cmp -s x.safetensors weights.safetensors && test ! -e x.safetensors.part || exit 8\n"
    "name=$(printf 'a\\033[2J\\302\\2332J\\342\\200\\256'); reader \"$name\" y.safetensors\n"
    "says '^a?.2J?2J?: ' || exit 9\n";

static void checkpoints_are_written_as_a_whole(void **state)
{
    (void)state;
    char here[PATH_MAX], *script = support_join(directory, "writes.sh");
    if (run_python("--version >/dev/null 2>&1") != 0)
        support_skip("python3");
    assert_non_null(realpath("engine/model/checkpoint.py", here));
    setenv("READER", here, 1);
    setenv("PLACE", directory, 1);
    support_write_text(script, writes_whole_files);
    char *command = vd_format("LC_ALL=C.UTF-8 sh %s", script);
    int code = system(command);
    vd_free(command);
    free(script);
    assert_int_equal(WEXITSTATUS(code), 0);
}

static void pytorch_takes_models_and_gives_checkpoints(void **state)
{
    (void)state;
    if (run_python("-c 'import torch' 2>/dev/null") != 0) {
        support_skip("a Python with torch (VISDIAL_PYTHON)");
    }
    char here[PATH_MAX], line[PATH_MAX + 2000];
    assert_non_null(realpath("engine/model/checkpoint.py", here));
    static const vd_decoders decoders[] = {VD_DISCRIMINATIVE, VD_BOTH};
    for (int i = 0; i < 2; i++) {
        golden g;
        vd_error err;
        golden_open(&g, "mvan_tiny.safetensors", decoders[i]);
        write_bare(&g, &(change){0});
        must(import(&g, 0, &err), &err);
        // A model of ours goes to PyTorch, whose modules take it ...
        snprintf(line, sizeof line, "%s model.safetensors mvan.pth", here);
        assert_int_equal(run_python(line), 0);
        snprintf(
            line, sizeof line,
            "-c \"import torch; s = torch.load('mvan.pth')['model']; "
            "assert len(s) == %d, len(s); "
            "p = 'encoder.hist_rnn.rnn_model.'; "
            "l = torch.nn.LSTM(%d, %d, 2, batch_first=True, bidirectional=True); "
            "l.load_state_dict({k[len(p):]: v for k, v in s.items() if k.startswith(p)}); "
            "d = '%s.word_embed.weight'; "
            "assert torch.equal(s[d], s['encoder.word_embed.weight']); "
            // ... and comes back as a checkpoint of training on several GPUs, in both formats.
            // With Adam's state as torch.optim saves it:
            "adam = {i: {'step': torch.tensor(3.), 'exp_avg': v * 0, 'exp_avg_sq': v * v} "
            "for i, v in enumerate(s.values())}; "
            "whole = {'model': {'module.' + k: torch.nn.Parameter(v) for k, v in s.items()}, "
            "'optimizer': {'state': adam, 'param_groups': [{'lr': 1e-3, 'betas': (0.9, 0.999), "
            "'params': list(adam)}]}}; torch.save(whole, 'zip.pth'); "
            "torch.save(whole, 'old.pth', _use_new_zipfile_serialization=False)\"",
            g.layout.count + (i ? 2 : 1), g.config.embed, g.config.hidden,
            i ? "gen_decoder" : "decoder");
        assert_int_equal(run_python(line), 0);
        static const char *const saved[] = {"old.pth", "zip.pth"};
        for (int k = 0; k < 2; k++)
            expect_read(&g, here, saved[k]);
        golden_close(&g);
    }
    damaged_checkpoints_are_refused(here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiny_imported_model_scores_as_the_public_code),
        cmocka_unit_test(a_small_imported_model_scores_as_the_public_code),
        cmocka_unit_test(the_baseline_with_regions_is_known_by_its_tensors),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
        cmocka_unit_test(numbers_that_are_not_finite_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(the_command_imports),
        cmocka_unit_test(public_checkpoints_are_read_without_pytorch),
        cmocka_unit_test(checkpoints_are_written_as_a_whole),
        cmocka_unit_test(pytorch_takes_models_and_gives_checkpoints),
    };
    return cmocka_run_group_tests(tests, make, clean);
}
