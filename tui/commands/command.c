#include "tui/commands/command.h"

#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

static const vd_option help_options[] = {
    {"completion", "SHELL", "print the completion script for bash, zsh or fish"},
    {"manual", NULL, "print the man page"},
    {0},
};

static const vd_option no_options[] = {{0}};

const vd_command vd_commands[] = {
    {"chat", vd_cmd_chat, "chat about a picture on the whole screen", "[options]",
     "What `visdial` does when no command is named. Needs a terminal; `visdial ask` does not.\n"
     "F1 lists the keys and /commands. $XDG_CONFIG_HOME/visdial/config may hold lines like\n"
     "`theme = light`, `mouse = off`, `model = base`; what is given here goes before them.",
     "  visdial chat --image 1000003 --model base\n  visdial chat --theme light\n",
     vd_cmd_chat_options, NULL},
    {"ask", vd_cmd_ask, "answer questions about a picture, without a screen",
     "--image ID [options] [\"question\" ...]",
     "The questions are one conversation: each is answered knowing those before it and the first\n"
     "answers to them. Without questions, they are read from standard input, one a line.\n"
     "Answers are printed on standard output, messages on standard error.",
     "  visdial ask --image 1000003 \"what is on the left\" \"what color is it\"\n"
     "  echo \"how many cubes are there\" | visdial ask --image 1000003 --json\n",
     vd_cmd_ask_options, NULL},
    {"walk", vd_cmd_walk, "walk through one answer, stage by stage, and ask what if",
     "--image ID [options] \"question\" ...",
     "The questions are one conversation; the walk is through the answer to the last: what goes "
     "into\n"
     "each stage of the network, its formula, the numbers, what comes out and why. Then every "
     "region,\n"
     "round and word is left out alone, and its effect stands beside the attention it got.\n"
     "CHANGE is caption or round N (left out), region N (left out), word N (left out), word "
     "N=OTHER\n"
     "(replaced), attention 1..4 (made flat), positions (taken away, or added where there are "
     "none)\n"
     "or picture (made blank). All count from 1, regions by their share of the answer.",
     "  visdial walk --image 1000001 \"how many balls are there\" \"what color are they\"\n"
     "  visdial walk --image 1000001 --what-if \"region 1\" --markdown \"is there a cube\"\n",
     vd_cmd_walk_options, NULL},
    {"train", vd_cmd_train, "train a model from dialogs and region features",
     "--data FILE --features FILE --out DIR [options]",
     "Writes DIR/model.safetensors after every epoch, DIR/best.safetensors when its MRR on --val\n"
     "is the best so far, DIR/checkpoint.safetensors every few minutes and when interrupted,\n"
     "DIR/pool.txt, DIR/log.tsv, and an event file that TensorBoard and `visdial curves` read\n"
     "(--watch shows it meanwhile). --resume continues a checkpoint exactly, after kill -9 too:\n"
     "the model is the one an uninterrupted run would have made. Options given after --preset\n"
     "change single settings of it.",
     "  visdial train --data train.json --features train_features.safetensors \\\n"
     "      --val val.json --val-features val_features.safetensors --out run1 --preset improved\n"
     "  visdial train --data train.json --features train_features.safetensors --out run1 "
     "--resume\n",
     vd_cmd_train_options, NULL},
    {"curves", vd_cmd_curves, "draw the curves of training runs", "[options] DIR...",
     "Draws what `visdial train --out DIR` writes into its event file (TensorBoard's format): "
     "loss,\n"
     "gradient norm and learning rate of every step, measures of every epoch. Several runs share\n"
     "their panels.",
     "  visdial curves run1\n"
     "  visdial curves --tag val/ run1 run2\n"
     "  visdial curves --watch run1\n",
     vd_cmd_curves_options, NULL},
    {"eval", vd_cmd_eval, "measure a model on dialogs with human answers",
     "--model MODEL --data FILE --features FILE [options]",
     "Ranks the candidates of every round and prints R@1, R@5, R@10, mean rank and MRR; NDCG and\n"
     "correct@1 where relevance is known. Candidates whose scores tie share their mean rank.\n"
     "Intervals are by drawing the dialogs anew. --ranks writes what the challenge server takes\n"
     "(val or test), --from-ranks measures such a file, somebody else's too.",
     "  visdial eval --model improved --data val.json --features val_features.safetensors \\\n"
     "      --dense val_dense.json --ranks val_ranks.json\n"
     "  visdial eval --from-ranks val_ranks.json --data val.json --dense val_dense.json\n",
     vd_cmd_eval_options, NULL},
    {"compare", vd_cmd_compare, "compare models, question by question", "[options]",
     "Ranks the candidates of every round with two to four models. For each and the first it "
     "prints\n"
     "in how many questions both, one or none is right (with McNemar's test), the difference of\n"
     "every metric (with a paired bootstrap over dialogs), the same by family of question and by\n"
     "round; then the questions about which the models differ most. --screen goes through them;\n"
     "--html and --markdown write them with the picture, the dialog, rankings and attentions.",
     "  visdial compare\n"
     "  visdial compare --screen\n"
     "  visdial compare --html compare.html --group first,second\n"
     "  visdial compare --model base --model run1/model.safetensors --data val.json \\\n"
     "      --features val_features.safetensors --dense val_dense.json\n"
     "  visdial compare --model base --model run1/model.safetensors --model "
     "run2/model.safetensors\n"
     "  visdial compare --model run1/model.safetensors --decoder discriminative \\\n"
     "      --model run1/model.safetensors --decoder generative\n",
     vd_cmd_compare_options, NULL},
    {"replay", vd_cmd_replay, "run a transcript again, or lay out a dialog of the data",
     "[FILE | --image ID] [options]",
     "FILE is a transcript that the chat wrote ($XDG_STATE_HOME/visdial/transcripts); without "
     "one,\n"
     "the newest. Every question is asked again after the same rounds, and every score that\n"
     "differs from the recorded one is reported (exit code 5). --html, --markdown and --visdial\n"
     "write its conversations.\n"
     "--image lays out the dialog that people had about a picture: each question with the human\n"
     "answer, what two to four models answer, whether that is right, and where they rank the human "
     "answer;\n"
     "--screen steps through all of them.",
     "  visdial replay\n"
     "  visdial replay chat.jsonl --html chat.html --no-check\n"
     "  visdial replay --image 1000003\n"
     "  visdial replay --screen\n",
     vd_cmd_replay_options, NULL},
    {"blocks", vd_cmd_blocks, "make Blocks pictures, dialogs about them and their features",
     "make|world|show [options]",
     "Everything comes from the seed and each picture's number.\n"
     "make: the train, val and test splits in DIR, for training and measuring.\n"
     "world: a few pictures with all that the chat needs.\n"
     "show: one picture and its dialog in words.",
     "  visdial blocks make --out blocks --train 20000 --val 1000 --test 1000\n"
     "  visdial blocks world --out world --count 48\n"
     "  visdial blocks show --split val --index 7 --png picture.png\n",
     vd_cmd_blocks_options, "make world show"},
    {"extract", vd_cmd_extract, "find the regions of pictures and write their features",
     "[options] PICTURE...",
     "Finds the objects of Blocks pictures from their pixels. --train makes a new extractor,\n"
     "--evaluate measures one on pictures that it has not seen.",
     "  visdial extract --out features.safetensors assets/pictures/1000003.png\n"
     "  visdial extract assets/pictures/1000003.png\n",
     vd_cmd_extract_options, NULL},
    {"data", vd_cmd_data, "say what a file of dialogs holds, pack it, count its words",
     "info|pack|vocab FILE [options]",
     "info: dialogs, rounds, lengths and tables; with a model or a vocabulary the words it lacks.\n"
     "pack: one mapped file of tokens that train and eval open at once, in place of the JSON.\n"
     "vocab: how often each word is said, as {\"word\": count}.",
     "  visdial data info val.json --model assets/improved.safetensors\n"
     "  visdial data pack visdial_1.0_train.json --out train.packed\n"
     "  visdial data vocab visdial_1.0_train.json --out word_counts.json\n",
     vd_cmd_data_options, "info pack vocab"},
    {"features", vd_cmd_features, "say what a file of region features holds, import one",
     "info|import FILE [options]",
     "FILE: HDF5 of the VisDial challenge or adaptive, TSV of bottom-up attention or LXMERT, a\n"
     "folder of npz or npy, or safetensors. All can be used where they lie; import makes one\n"
     "safetensors file in half precision of them, which is smaller and quicker. An import that\n"
     "was stopped goes on where it was.",
     "  visdial features info features_faster_rcnn_x101_val.h5 --data visdial_1.0_val.json\n"
     "  visdial features import features_faster_rcnn_x101_val.h5 --out val.safetensors\n",
     vd_cmd_features_options, "info import"},
    {"study", vd_cmd_study, "test whether the runs of models differ by more than chance",
     "--data FILE RANKS... --against [NAME=]RANKS [--against [NAME=]RANKS]...",
     "Takes rankings that eval --ranks wrote, one file a run (a seed), of one model and, with\n"
     "--against, of another, or of several by name. Differences of the means over runs, with\n"
     "intervals and p-values from drawing the dialogs anew (paired), corrected for all metrics of\n"
     "all models (Holm); with several runs also from drawing the runs anew; and McNemar's test of\n"
     "R@1, run by run.",
     "  visdial study --data val.json --dense val_dense.json a1.json a2.json a3.json \\\n"
     "      --against b1.json --against b2.json --against b3.json\n"
     "  visdial study --data val.json base=a1.json --against gates=b1.json --against "
     "margin=c1.json\n",
     vd_cmd_study_options, NULL},
    {"pool", vd_cmd_pool, "make the pool of answers that questions are ranked against",
     "build --data FILE [options]",
     "Takes the answers people gave in a data set, with how often. With --model the pool goes "
     "beside\n"
     "the model, and its vectors too: chat and ask then map them instead of making them anew.",
     "  visdial pool build --data visdial_1.0_train.json --model run1/model.safetensors\n"
     "  visdial pool build --data train.packed --top 10000 --out pool.txt\n",
     vd_cmd_pool_options, "build"},
    {"import", vd_cmd_import, "make a model of weights that the public PyTorch code trained",
     "--words FILE --out MODEL [options] WEIGHTS",
     "WEIGHTS is a state_dict as safetensors, with one decoder or two; checkpoint.py makes one of "
     "a\n"
     ".pth file (and a .pth file of a model) where PyTorch is installed. Every name and shape is\n"
     "checked. A gate other than the public code's must be told: it is not in the weights.",
     "  python3 engine/model/checkpoint.py mvan.pth weights.safetensors\n"
     "  visdial import weights.safetensors --words visdial_1.0_word_counts_train.json \\\n"
     "      --out mvan.safetensors\n",
     vd_cmd_import_options, NULL},
    {"info", vd_cmd_info, "say what files hold: models, features, dialogs, pools, pictures",
     "[FILE...]", "Without a file: what this program is made of.",
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
    fprintf(out, "\n  --help     this text; `visdial COMMAND --help` explains a command\n"
                 "  --version  the version\n\nExit codes:\n");
#define X(code, text, exit_code) fprintf(out, "  %3d  %s\n", exit_code, text);
    VD_STATUS_LIST(X)
#undef X
    fprintf(out, "\nExample:\n"
                 "  visdial ask --image 1000003 \"what is on the left\" \"what color is it\"\n");
}

static int option_width(const vd_option *option)
{
    size_t value = option->argument ? strlen(option->argument) + 1 : 0;
    return (int)(strlen("--") + strlen(option->name) + value);
}

void vd_command_print_help(const vd_command *command, FILE *out)
{
    if (!command) {
        print_program_help(out);
        return;
    }
    fprintf(out, "Usage: visdial %s %s\n\n%c%s.\n", command->name, command->usage,
            toupper((unsigned char)*command->summary), command->summary + 1);
    if (*command->text)
        fprintf(out, "\n%s\n", command->text);
    fprintf(out, "\nOptions:\n");
    int widest = 6; // "--help"
    for (const vd_option *option = command->options; option->name; option++) {
        int width = option_width(option);
        widest = width > widest ? width : widest;
    }
    for (const vd_option *option = command->options; option->name; option++)
        fprintf(out, "  --%s%s%s%*s  %s\n", option->name, option->argument ? " " : "",
                option->argument ? option->argument : "", widest - option_width(option), "",
                option->help);
    fprintf(out, "  %-*s  %s\n\nExample:\n%s", widest, "--help", "this text", command->example);
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
