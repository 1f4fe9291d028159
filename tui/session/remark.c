#include "tui/session/remark.h"

#include <ctype.h>
#include <string.h>

#include "engine/base/alloc.h"
#include "engine/base/append.h"
#include "engine/base/utf8.h"
#include "features/text/tokenize.h"
#include "tui/session/spelling.h"

// ---- small talk ---------------------------------------------------------------------------------

static const char hello[] = "hello! Ask about the picture: what is there, how many, what color, "
                            "where. The model answers such questions and nothing else; in the "
                            "chat F1 lists the keys";
static const char welcome[] = "you are welcome! Ask more about the picture, or go to another one";
static const char fine[] = "fine! Ask more about the picture, or go to another one";
static const char wrong[] = "the model can be wrong. In the chat F4 shows its other answers, Alt-2 "
                            "continues with the second one, and Alt-e asks in other words";
static const char goodbye[] = "goodbye! In the chat Ctrl-D or /quit leaves";

static const struct {
    const char *texts; // between bars, in small letters without punctuation
    const char *reply;
} talk[] = {
    {"|hi|hello|hey|hi there|hello there|hey there|good morning|good afternoon|good evening|"
     "good day|greetings|hallo|moin|howdy|hi visdial|hello visdial|hey visdial|how are you|"
     "how are you doing|hello how are you|hi how are you|whats up|"
     "who are you|what are you|what is your name|whats your name|what can you do|"
     "what can i ask|what can i ask you|what should i ask|help|help me|",
     hello},
    {"|thanks|thank you|thanks a lot|many thanks|thank you very much|thank you so much|"
     "thanks very much|thx|ty|cheers|thank you visdial|thanks visdial|ok thanks|ok thank you|"
     "ok thx|great thanks|great thank you|cool thanks|nice thanks|perfect thanks|",
     welcome},
    {"|ok|okay|ok cool|cool|nice|great|wow|lol|haha|well done|good job|", fine},
    {"|wrong|thats wrong|that is wrong|youre wrong|you are wrong|no thats wrong|thats not right|"
     "thats not true|that is not true|",
     wrong},
    {"|bye|bye bye|goodbye|good bye|see you|see you later|good night|exit|quit|q|", goodbye},
};

const char *vd_small_talk(const char *typed)
{
    enum { LONGEST = 40 };
    char said[LONGEST + 3] = "|";
    size_t used = 1;
    for (; *typed && used <= LONGEST; typed++) {
        bool letter = isalpha((unsigned char)*typed) || (unsigned char)*typed >= 0x80;
        if (letter)
            said[used++] = (char)tolower((unsigned char)*typed);
        else if (*typed != '\'' && said[used - 1] != '|' && said[used - 1] != ' ')
            said[used++] = ' ';
    }
    used -= said[used - 1] == ' ';
    if (*typed || used == 1)
        return NULL;
    said[used++] = '|';
    said[used] = '\0';
    for (size_t i = 0; i < sizeof talk / sizeof *talk; i++)
        if (strstr(talk[i].texts, said))
            return talk[i].reply;
    return NULL;
}

// ---- words --------------------------------------------------------------------------------------

// "; for example "is there a cube?" or "what color is it?"", as far as there are questions.
static void add_examples(const vd_world *world, size_t picture, char *out, size_t size)
{
    const vd_visdial *dialogs = world->dialogs;
    const vd_visdial_dialog *people = vd_world_dialog(world, picture);
    int rounds = people ? people->round_count : 0;
    for (int i = 0; i < rounds && i < 2; i++)
        vd_append(out, size, "%s\"%.80s?\"", i ? " or " : "; for example ",
                  dialogs->questions[people->rounds[i].question]);
    if (rounds == 0 && dialogs->question_count > 0)
        vd_append(out, size, "; for example \"%.80s?\"", dialogs->questions[0]);
}

// The bytes of a word that are shown.
static int cut(const char *word)
{
    return (int)vd_utf8_whole(word, strlen(word), 40);
}

// "spheer: read as sphere", for the words that the model reads otherwise than they were typed.
static vd_status add_corrections(const vd_reply *reply, char *out, size_t size, vd_error *err)
{
    char *text = NULL;
    vd_words words = {0};
    vd_status status = vd_normalise_typed(reply->typed, &text, err);
    if (status == VD_OK)
        status = vd_tokenize(text, &words, err);
    for (size_t i = 0; status == VD_OK && i < words.count && i < (size_t)reply->words; i++)
        if (strcmp(words.word[i], reply->word[i]) != 0 && strcmp(reply->word[i], "?") != 0)
            vd_append(out, size, "%s%.*s: read as %s", *out ? "  " : "", cut(words.word[i]),
                      words.word[i], reply->word[i]);
    vd_words_clear(&words);
    vd_free(text);
    return status;
}

static bool is_word(const char *token)
{
    return isalnum((unsigned char)*token) || (unsigned char)*token >= 0x80;
}

// "teh: the?" or "zork: not known"; returns how many of the words are unknown.
static int add_unknown(const vd_reply *reply, const vd_vocab *vocab, char *out, size_t size)
{
    int unknown = 0;
    for (int i = 0; i < reply->words; i++) {
        const char *word = reply->word[i];
        bool again = false;
        for (int k = 0; k < i; k++)
            again = again || strcmp(reply->word[k], word) == 0;
        if (!reply->unknown[i] || !is_word(word)) // signs are marked, but not told
            continue;
        unknown++;
        if (again)
            continue;
        const char *meant = vd_vocab_nearest(vocab, word);
        vd_append(out, size, "%s%.*s: %s%s", *out ? "  " : "", cut(word), word,
                  meant ? meant : "not known", meant ? "?" : "");
    }
    return unknown;
}

vd_status vd_question_remark(const vd_reply *reply, const vd_vocab *vocab, const vd_world *world,
                             size_t picture, char *out, size_t size, vd_error *err)
{
    out[0] = '\0';
    if (reply->cut)
        vd_append(out, size, "too long: only the first %d words are read", reply->words);
    vd_status status = add_corrections(reply, out, size, err);
    int words = 0, unknown = add_unknown(reply, vocab, out, size);
    for (int i = 0; i < reply->words; i++)
        words += is_word(reply->word[i]);
    if (status != VD_OK || 2 * unknown <= words)
        return status;
    int known = words - unknown;
    if (known > 0)
        vd_append(out, size, "  The model knows %d of these %d words", known, words);
    else
        vd_append(out, size, "  The model knows no such word%s", words == 1 ? "" : "s");
    vd_append(out, size, ". It can be asked what is there, how many, what color and where");
    add_examples(world, picture, out, size);
    return VD_OK;
}
