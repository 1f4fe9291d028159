#include "tui/commands/command.h"

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "tui/screen/wrap.h"

enum { HELP_WIDTH = 80, HELP_INDENT = 22 }; // columns of the help, and of its option names

static const vd_option help_options[] = {
    {"completion", "SHELL", "print the completion script for bash, zsh or fish"},
    {"manual", NULL, "print the man page"},
    {0},
};

static const vd_option no_options[] = {{0}};

const vd_command vd_commands[] = {
    {"chat", vd_cmd_chat, "chat about a picture on the whole screen", "[options]",
     "This is what `visdial` does without a command. It needs a terminal; `visdial ask` does not. "
     "F1 lists the keys and the /commands. Settings such as `theme = light`, `mouse = off` or "
     "`model = base` can be kept in $XDG_CONFIG_HOME/visdial/config; options override them. "
     "Without --data and --features the chat is about the bundled pictures.",
     "  visdial chat --image 1000003 --model base\n  visdial chat --theme light\n",
     vd_cmd_chat_options, NULL},
    {"ask", vd_cmd_ask, "answer questions about a picture, without a screen",
     "--image ID [options] [\"question\" ...]",
     "The questions form one conversation: the earlier questions, each with the model's first "
     "answer, are the history of the next. Without questions on the command line they are read "
     "from standard input, one per line. Answers go to standard output, messages to standard "
     "error. Without --data and --features the pictures are the bundled ones.",
     "  visdial ask --image 1000003 \"what is on the left\" \"what color is it\"\n"
     "  echo \"how many cubes are there\" | visdial ask --image 1000003 --json\n",
     vd_cmd_ask_options, NULL},
    {"walk", vd_cmd_walk, "walk through one answer, stage by stage, and ask what if",
     "--image ID [options] \"question\" ...",
     "The questions form one conversation; the walk explains the answer to the last one. For each "
     "stage of the network it shows the input, the formula, the numbers, the output and what the "
     "stage is for. Then it leaves out each region, round and word in turn and shows how the "
     "answer changes, beside the attention that each one got.\n"
     "CHANGE is one of: caption, region N, round N or word N (left out); word N=OTHER (replaced); "
     "attention 1..4 (made uniform); positions (removed, or added where the model has none); "
     "picture (made blank). Numbers start at 1; regions are ordered by their share of attention.",
     "  visdial walk --image 1000001 \"how many balls are there\" \"what color are they\"\n"
     "  visdial walk --image 1000001 --what-if \"region 1\" --markdown \"is there a cube\"\n",
     vd_cmd_walk_options, NULL},
    {"train", vd_cmd_train, "train a model from dialogs and region features",
     "--data FILE --features FILE --out DIR [options]",
     "Writes to DIR: model.safetensors after every epoch; best.safetensors when the MRR on --val "
     "is the best so far; checkpoint.safetensors every few minutes and when interrupted; "
     "pool.txt; log.tsv; and an event file that TensorBoard and `visdial curves` read. --watch "
     "shows the curves during training; q then stops it with a checkpoint. --resume continues "
     "from the checkpoint, also after kill -9, and makes the same model as a run without a "
     "break. --preset sets several options at once; options after it override it.",
     "  visdial train --data train.json --features train_features.safetensors \\\n"
     "      --val val.json --val-features val_features.safetensors --out run1\n"
     "  visdial train --data train.json --features train_features.safetensors \\\n"
     "      --out run1 --resume\n",
     vd_cmd_train_options, NULL},
    {"curves", vd_cmd_curves, "draw the curves of training runs", "[options] DIR...",
     "Draws the event files (TensorBoard's format) that `visdial train --out DIR` writes: loss, "
     "gradient norm and learning rate of every step, metrics of every epoch. Several runs share "
     "the same panels.",
     "  visdial curves run1\n"
     "  visdial curves --tag val/ run1 run2\n"
     "  visdial curves --watch run1\n",
     vd_cmd_curves_options, NULL},
    {"eval", vd_cmd_eval, "evaluate a model on dialogs with human answers",
     "--model MODEL [options]",
     "Ranks the candidates of every round and prints R@1, R@5, R@10, mean rank and MRR, and NDCG "
     "and correct@1 where relevance is known. Tied candidates get their mean rank. The 95 % "
     "intervals come from a bootstrap over dialogs. --ranks writes the rankings as the VisDial "
     "challenge server takes them (val or test); --from-ranks evaluates such a file, whoever made "
     "it. Without --data and --features the bundled dialogs are used.",
     "  visdial eval --model improved --data val.json \\\n"
     "      --features val_features.safetensors --dense val_dense.json \\\n"
     "      --ranks val_ranks.json\n"
     "  visdial eval --from-ranks val_ranks.json --data val.json \\\n"
     "      --dense val_dense.json\n",
     vd_cmd_eval_options, NULL},
    {"compare", vd_cmd_compare, "compare models, question by question", "[options]",
     "Ranks the candidates of every round with two to four models and compares each model with "
     "the first. Prints how many questions both, one or neither answers right (McNemar's test); "
     "the difference of every metric (paired bootstrap over dialogs), also by family of question "
     "and by round; and the questions on which the models differ most. --screen goes through "
     "the questions; --html and --markdown write them with picture, dialog, rankings and "
     "attentions. Without --data and --features the bundled dialogs are used.",
     "  visdial compare\n"
     "  visdial compare --screen\n"
     "  visdial compare --html compare.html --group first,second\n"
     "  visdial compare --model base --model run1/model.safetensors --data val.json \\\n"
     "      --features val_features.safetensors --dense val_dense.json\n"
     "  visdial compare --model base --model run1/model.safetensors \\\n"
     "      --model run2/model.safetensors\n"
     "  visdial compare --model run1/model.safetensors --decoder discriminative \\\n"
     "      --model run1/model.safetensors --decoder generative\n",
     vd_cmd_compare_options, NULL},
    {"replay", vd_cmd_replay, "run a transcript again, or show a dialog of the data",
     "[FILE | --image ID] [options]",
     "FILE is a transcript that the chat wrote to $XDG_STATE_HOME/visdial/transcripts; the default "
     "is the newest. Every question is asked again with the same history, and every score that "
     "differs from the recorded one is reported (exit code 5). --html, --markdown and --visdial "
     "write the conversations to a file.\n"
     "--image shows the dialog that people had about a picture: each question with the human "
     "answer, the answers of two to four models, whether they are right, and the rank that they "
     "give the human answer. --screen goes through all dialogs. Without --data and --features the "
     "bundled dialogs are used.",
     "  visdial replay\n"
     "  visdial replay chat.jsonl --html chat.html --no-check\n"
     "  visdial replay --image 1000003\n"
     "  visdial replay --screen\n",
     vd_cmd_replay_options, NULL},
    {"blocks", vd_cmd_blocks, "make Blocks pictures, dialogs about them and their features",
     "make|world|show [options]",
     "The seed and the number of a picture determine everything about it.\n"
     "make: train, val and test splits in DIR, for training and evaluation.\n"
     "world: a few pictures with all files that the chat needs.\n"
     "show: one picture and its dialog as text.",
     "  visdial blocks make --out blocks --train 20000 --val 1000 --test 1000\n"
     "  visdial blocks world --out world --count 48\n"
     "  visdial blocks show --split val --index 7 --png picture.png\n",
     vd_cmd_blocks_options, "make world show"},
    {"extract", vd_cmd_extract, "find the regions of pictures and write their features",
     "[options] PICTURE...",
     "Finds the objects of Blocks pictures from their pixels. --train trains a new extractor, "
     "--evaluate evaluates one on pictures that it was not trained on.",
     "  visdial extract --out features.safetensors assets/pictures/1000003.png\n"
     "  visdial extract assets/pictures/1000003.png\n",
     vd_cmd_extract_options, NULL},
    {"data", vd_cmd_data, "describe a file of dialogs, pack it, count its words",
     "info|pack|vocab FILE [options]",
     "info: the number of dialogs and rounds, lengths and tables; with --model or --vocab also "
     "the words of the dialogs that these do not know.\n"
     "pack: one file of tokens that is mapped into memory, so that it opens at once; all "
     "commands take it in place of the JSON.\n"
     "vocab: how often each word occurs, as {\"word\": count}.",
     "  visdial data info val.json --model assets/improved.safetensors\n"
     "  visdial data pack visdial_1.0_train.json --out train.packed\n"
     "  visdial data vocab visdial_1.0_train.json --out word_counts.json\n",
     vd_cmd_data_options, "info pack vocab"},
    {"features", vd_cmd_features, "describe a file of region features, import it",
     "info|import FILE [options]",
     "FILE is HDF5 of the VisDial challenge or adaptive HDF5, TSV of bottom-up attention or "
     "LXMERT, "
     "a folder of npz or npy files, or safetensors. All commands read these as they are.\n"
     "info: what FILE holds; with --data for how many of the dialogs it has features, with "
     "--images for how many pictures there is a photo.\n"
     "import: one safetensors file in half precision, which is smaller and faster to read. An "
     "import that was stopped continues where it was. Boxes in pixels need the size of the "
     "picture: where FILE does not have it, --images does.",
     "  visdial features info features_faster_rcnn_x101_val.h5 \\\n"
     "      --data visdial_1.0_val.json\n"
     "  visdial features import features_faster_rcnn_x101_val.h5 --out val.safetensors\n",
     vd_cmd_features_options, "info import"},
    {"study", vd_cmd_study, "test whether runs of models differ by more than chance",
     "--data FILE RANKS... --against [NAME=]RANKS... [options]",
     "Takes rankings written by `eval --ranks`, one file per run (seed): those of one model and, "
     "with --against, those of another model, or of several with names. Prints the difference of "
     "the mean of each metric over the runs, with confidence intervals and p-values from a paired "
     "bootstrap over dialogs (with several runs also over runs), corrected for the number of "
     "metrics and models (Holm), and McNemar's test of R@1 for each run.",
     "  visdial study --data val.json --dense val_dense.json a1.json a2.json a3.json \\\n"
     "      --against b1.json --against b2.json --against b3.json\n"
     "  visdial study --data val.json base=a1.json --against gates=b1.json \\\n"
     "      --against margin=c1.json\n",
     vd_cmd_study_options, NULL},
    {"pool", vd_cmd_pool, "make the pool of answers that are ranked for a question",
     "build --data FILE [options]",
     "Takes the answers that people gave in a data set, with their counts. With --model the pool "
     "is written beside the model, together with the vectors of its answers; chat and ask then "
     "map these into memory instead of computing them.",
     "  visdial pool build --data visdial_1.0_train.json \\\n"
     "      --model run1/model.safetensors\n"
     "  visdial pool build --data train.packed --top 10000 --out pool.txt\n",
     vd_cmd_pool_options, "build"},
    {"import", vd_cmd_import, "make a model from weights that the public PyTorch code trained",
     "--words FILE --out MODEL [options] WEIGHTS",
     "WEIGHTS is a state_dict as safetensors, with one decoder or both. checkpoint.py "
     "makes it from a .pth file, with or without an optimizer's state (and, where PyTorch is "
     "installed, a .pth file from a model). Every name and shape is checked. The weights do not "
     "say which gates and positions the model was trained "
     "with: give --gate and --positions if they were not those of the public code.",
     "  python3 engine/model/checkpoint.py mvan.pth weights.safetensors\n"
     "  visdial import weights.safetensors --out mvan.safetensors \\\n"
     "      --words visdial_1.0_word_counts_train.json\n",
     vd_cmd_import_options, NULL},
    {"info", vd_cmd_info, "describe files: models, features, dialogs, pools, pictures", "[FILE...]",
     "Without a file it describes the program: its version, libraries, instruction set and GPU.",
     "  visdial info assets/improved.safetensors assets/pictures/1000003.png\n", no_options, NULL},
    {"help", vd_cmd_help, "explain a command", "[COMMAND]", "", "  visdial help train\n",
     help_options,
     "chat ask walk train eval compare replay blocks extract data features pool info help"},
    {0},
};

const vd_command *vd_command_find(const char *name)
{
    for (const vd_command *command = vd_commands; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
    }
    return NULL;
}

const vd_command *vd_command_nearest(const char *typed)
{
    const vd_command *nearest = NULL;
    int least = 4;
    for (const vd_command *command = vd_commands; command->name; command++) {
        int distance = vd_option_distance(typed, command->name);
        if (distance < least && distance < (int)strlen(command->name)) {
            least = distance;
            nearest = command;
        }
    }
    return nearest;
}

int vd_command_fail(const char *command, const vd_error *err)
{
    fflush(stdout); // so that what came before the error stands before it
    fprintf(stderr, "visdial %s: %s\n", command, err->text);
    return vd_status_exit_code(err->status);
}

// ---- help ---------------------------------------------------------------------------------------

static void print_program_help(FILE *out)
{
    fprintf(out, "visdial: chat about a picture (visual dialog, MVAN)\n\n"
                 "Usage: visdial [chat options]\n       visdial COMMAND [options]\n\nCommands:\n");
    for (const vd_command *command = vd_commands; command->name; command++)
        fprintf(out, "  %-10s %s\n", command->name, command->summary);
    fprintf(out, "\n  --help     print this text; `visdial COMMAND --help` explains a command\n"
                 "  --version  print the version\n\nExit codes:\n");
#define X(code, text, exit_code) fprintf(out, "  %3d  %s\n", exit_code, text);
    VD_STATUS_LIST(X)
#undef X
    fprintf(out, "\nExample:\n"
                 "  visdial ask --image 1000003 \"what is on the left\" \"what color is it\"\n");
}

// Text from column `at` on, wrapped between column `indent` and the right margin.
static void print_wrapped(const char *text, int at, int indent, FILE *out)
{
    size_t length = strlen(text), offset = 0;
    vd_text_line line;
    while (vd_wrap_next(text, length, HELP_WIDTH - indent, &offset, &line)) {
        fprintf(out, "%*s%.*s\n", indent - at, "", (int)line.length, text + line.start);
        at = 0;
    }
}

static int option_width(const vd_option *option)
{
    size_t value = option->argument ? strlen(option->argument) + 1 : 0;
    return (int)(strlen("  --") + strlen(option->name) + value);
}

// The help of an option stands beside its name, or below where the name is long.
static void print_option(const vd_option *option, int indent, FILE *out)
{
    int width = option_width(option);
    fprintf(out, "  --%s%s%s", option->name, option->argument ? " " : "",
            option->argument ? option->argument : "");
    if (width + 2 > indent)
        fprintf(out, "\n");
    print_wrapped(option->help, width + 2 > indent ? 0 : width, indent, out);
}

void vd_command_print_help(const vd_command *command, FILE *out)
{
    static const vd_option help = {"help", NULL, "print this text"};
    if (!command) {
        print_program_help(out);
        return;
    }
    fprintf(out, "Usage: visdial %s %s\n\n%c%s.\n", command->name, command->usage,
            toupper((unsigned char)*command->summary), command->summary + 1);
    if (*command->text)
        fprintf(out, "\n");
    print_wrapped(command->text, 0, 0, out);
    fprintf(out, "\nOptions:\n");
    int indent = option_width(&help) + 2;
    for (const vd_option *option = command->options; option->name; option++) {
        int width = option_width(option) + 2;
        if (width > indent && width <= HELP_INDENT)
            indent = width;
    }
    for (const vd_option *option = command->options; option->name; option++)
        print_option(option, indent, out);
    print_option(&help, indent, out);
    fprintf(out, "\nExample:\n%s", command->example);
}

int vd_cmd_help(int argc, char **argv)
{
    vd_error err;
    vd_option_walk walk = {.options = help_options, .argc = argc, .argv = argv};
    const char *value, *shell = NULL;
    int option;
    while ((option = vd_option_next(&walk, &value, &err)) >= 0) {
        if (!value) {
            vd_command_print_manual(stdout);
            return 0;
        }
        shell = value;
    }
    if (option == VD_OPTION_ERROR)
        return vd_command_fail("help", &err);
    if (shell) {
        if (vd_command_print_completion(shell, stdout) == 0)
            return 0;
        vd_error_set(&err, VD_USAGE, "--completion: expected bash, zsh or fish, found '%.80s'",
                     shell);
        return vd_command_fail("help", &err);
    }
    const char *name = walk.operands < argc ? argv[walk.operands] : NULL;
    const vd_command *command = name ? vd_command_find(name) : NULL;
    if (name && !command) {
        vd_error_set(&err, VD_USAGE, "there is no command '%.80s'; `visdial --help` lists them",
                     name);
        return vd_command_fail("help", &err);
    }
    vd_command_print_help(command, stdout);
    return 0;
}

// ---- dispatch -----------------------------------------------------------------------------------

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static int dispatch(int argc, char **argv)
{
    static char chat[] = "chat";
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("visdial %s\n", VD_VERSION);
        return 0;
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        vd_command_print_help(NULL, stdout);
        return 0;
    }
    if (argc < 2 || argv[1][0] == '-') {
        if (asks_for_help(argc, argv)) {
            vd_command_print_help(vd_command_find(chat), stdout);
            return 0;
        }
        char *lone[] = {chat, NULL};
        if (argc > 0)
            argv[0] = chat;
        return vd_cmd_chat(argc > 0 ? argc : 1, argc > 0 ? argv : lone);
    }
    const vd_command *command = vd_command_find(argv[1]);
    if (!command) {
        command = vd_command_nearest(argv[1]);
        fprintf(stderr, "visdial: there is no command '%.80s'; ", argv[1]);
        fprintf(stderr, command ? "did you mean `visdial %s`?\n" : "`visdial --help` lists them\n",
                command ? command->name : "");
        return vd_status_exit_code(VD_USAGE);
    }
    if (asks_for_help(argc - 1, argv + 1)) {
        vd_command_print_help(command, stdout);
        return 0;
    }
    return command->run(argc - 1, argv + 1);
}

int vd_command_main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); // a file-size limit is to be an error of write(), with a message
    int code = dispatch(argc, argv);
    // A full disk shows itself only when the buffer is written.
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == 0) {
        perror("visdial: writing standard output");
        code = vd_status_exit_code(VD_IO);
    }
    return code;
}
