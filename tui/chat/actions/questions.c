// Tab on a question: the rest of it, from earlier questions and those that people asked, or the
// rest of its last word, from the model's vocabulary; on an empty line what people asked about this
// picture.
#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "engine/base/utf8.h"
#include "tui/base/complete.h"
#include "tui/chat/actions/actions.h"

// ---- people's questions about this picture ------------------------------------------------------

// The place in the picture's dialog that goes on where the conversation stands: behind the question
// asked last, where that is one of its own.
static int next_round(const vd_conversation *conversation)
{
    int rounds = (int)conversation->branch->count;
    int last = rounds ? conversation->branch->rounds[rounds - 1].human : -1;
    return last >= 0 ? last + 1 : rounds;
}

// again: in place of the one suggested before.
static void suggest(vd_chat *chat, bool again)
{
    vd_navigation *nav = &chat->nav;
    nav->suggestion = again ? nav->suggestion : 0;
    int round = next_round(&chat->conversation) + nav->suggestion;
    const vd_visdial_dialog *own =
        vd_world_dialog(chat->conversation.world, chat->conversation.branches.picture);
    round %= own && own->round_count ? own->round_count : INT_MAX;
    const vd_visdial_round *human = vd_people_dialog(&chat->conversation, round);
    const vd_visdial *dialogs = chat->conversation.world->dialogs;
    bool other = !human; // what people began with at another picture
    if (other && dialogs->dialog_count > 0) {
        size_t at = (size_t)round % dialogs->dialog_count;
        if (dialogs->dialogs[at].round_count > 0)
            human = &dialogs->dialogs[at].rounds[0];
    }
    if (!human) {
        vd_notice_say(&chat->notice, "the data has no questions about this picture");
        return;
    }
    nav->suggestion++;
    char question[VD_LINE_MAX + 1];
    snprintf(question, sizeof question, "%s?", dialogs->questions[human->question]);
    vd_line_set(&nav->line, question);
    nav->line.suggested = nav->line.changes;
    nav->stem = 0;
    if (other)
        vd_notice_say(&chat->notice,
                      "a question about another picture; Tab: another one, Enter: ask it");
    else
        vd_notice_say(&chat->notice,
                      "question %d of the data about this picture; Tab: another, Enter: ask it",
                      round + 1);
}

// ---- questions that begin like the line ---------------------------------------------------------

enum { MOST_FOUND = 32 };

typedef struct found {
    const char *stem;
    size_t length;                // of the stem, which all begin with
    const char *text[MOST_FOUND]; // (count) each once
    int count;
    size_t common; // letters that all share
} found;

// Without the "?" at its end.
static size_t length_of(const char *question)
{
    size_t length = strlen(question);
    while (length > 0 && strchr("? ", question[length - 1]))
        length--;
    return length;
}

static size_t shared(const char *a, const char *b, size_t most)
{
    size_t same = 0;
    while (same < most && tolower((unsigned char)a[same]) == tolower((unsigned char)b[same]))
        same++;
    return vd_utf8_whole(a, strlen(a), same);
}

static void find(found *f, const char *question)
{
    size_t length = length_of(question);
    if (length <= f->length || strncasecmp(question, f->stem, f->length) != 0 ||
        strstr(question, VD_LINE_BREAK))
        return;
    for (int i = 0; i < f->count; i++)
        if (length_of(f->text[i]) == length && strncasecmp(f->text[i], question, length) == 0)
            return;
    size_t most = f->count && f->common < length ? f->common : length;
    f->common = f->count ? shared(f->text[0], question, most) : length;
    if (f->count < MOST_FOUND)
        f->text[f->count++] = question;
}

// What was asked last comes first; then people's questions, those about this picture before all.
static void find_all(const vd_chat *chat, found *f)
{
    const vd_line *line = &chat->nav.line;
    const vd_visdial *dialogs = chat->conversation.world->dialogs;
    const vd_visdial_round *human;
    for (size_t i = line->count; i-- > 0;)
        if (line->history[i][0] != '/')
            find(f, line->history[i]);
    for (int i = 0; (human = vd_people_dialog(&chat->conversation, i)) != NULL; i++)
        find(f, dialogs->questions[human->question]);
    for (size_t i = 0; i < dialogs->question_count; i++)
        find(f, dialogs->questions[i]);
}

// The line becomes its stem and more of a question, or all of it.
static void take(vd_chat *chat, const found *f, const char *question, size_t length, bool all)
{
    char text[VD_LINE_MAX + 1];
    snprintf(text, sizeof text, "%.*s%.*s%s", (int)f->length, f->stem, (int)(length - f->length),
             question + f->length, all ? "?" : "");
    vd_line_set(&chat->nav.line, text);
}

// The next of several.
static void step(vd_chat *chat, const found *f, int at)
{
    vd_navigation *nav = &chat->nav;
    take(chat, f, f->text[at], length_of(f->text[at]), true);
    nav->line.candidate = at + 1;
    nav->line.suggested = nav->line.changes;
    nav->stem = f->length;
    vd_notice_say(&chat->notice,
                  "%d of %d questions that begin like this; Tab: another, Enter: ask it", at + 1,
                  f->count);
}

// False: no question begins like the line.
static bool complete_question(vd_chat *chat, size_t stem, int at)
{
    char text[VD_LINE_MAX + 1];
    snprintf(text, sizeof text, "%.*s", (int)stem, chat->nav.line.text);
    found f = {.stem = text, .length = stem};
    find_all(chat, &f);
    size_t more = stem; // the first letter behind the stem
    while (f.count > 0 && more < f.common && f.text[0][more] == ' ')
        more++;
    if (f.count > 1 && (at > 0 || more == f.common))
        step(chat, &f, at % f.count);
    else if (f.count > 0)
        take(chat, &f, f.text[0], f.common, f.count == 1);
    return f.count > 0;
}

// ---- words --------------------------------------------------------------------------------------

static size_t last_word(const vd_line *line)
{
    size_t at = line->cursor;
    while (at > 0 &&
           (isalnum((unsigned char)line->text[at - 1]) ||
            (unsigned char)line->text[at - 1] >= 0x80 || strchr("'-", line->text[at - 1])))
        at--;
    return at;
}

static void put_word(vd_line *line, size_t from, const char *word, bool whole)
{
    char text[2 * VD_LINE_MAX];
    size_t after = line->cursor;
    const char *gap = whole && line->text[after] != ' ' ? " " : "";
    snprintf(text, sizeof text, "%.*s%s%s%s", (int)from, line->text, word, gap, line->text + after);
    vd_line_set(line, text);
    line->cursor = from + strlen(word) + strlen(gap);
    line->cursor = line->cursor < line->length ? line->cursor : line->length;
}

// Whether it is in one of people's questions, of many the first ones.
static bool is_asked(const vd_visdial *people, const char *word)
{
    enum { LOOKED_AT = 5000 };
    size_t length = strlen(word);
    for (size_t i = 0; i < people->question_count && i < LOOKED_AT; i++) {
        const char *text = people->questions[i], *at = text;
        for (; (at = strstr(at, word)) != NULL; at++)
            if ((at == text || at[-1] == ' ') && !isalnum((unsigned char)at[length]))
                return true;
    }
    return false;
}

// The model's words that begin so: those that people ask with, where there are any. It may know
// slips of the pen, too.
static vd_completion find_words(const vd_chat *chat, const char *typed)
{
    const vd_vocab *vocab = chat->lanes.lane[0].vocab;
    vd_completion words = {.typed = typed}, asked = {.typed = typed};
    for (int32_t id = VD_FIRST_WORD; *typed && vocab && id < vd_vocab_size(vocab); id++) {
        int before = words.matches;
        const char *word = vd_vocab_word(vocab, id);
        vd_complete_add(&words, word);
        if (words.matches > before && is_asked(chat->conversation.world->dialogs, word))
            vd_complete_add(&asked, word);
    }
    return asked.matches ? asked : words;
}

static void complete_word(vd_chat *chat)
{
    vd_line *line = &chat->nav.line;
    const vd_vocab *vocab = chat->lanes.lane[0].vocab;
    size_t from = last_word(line), length = line->cursor - from;
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)length, line->text + from);
    for (char *at = typed; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    vd_completion words = find_words(chat, typed);
    if (words.matches == 0)
        vd_notice_say(&chat->notice, "%s",
                      length && vocab ? "the model knows no word that begins like this"
                                      : "no question begins like this");
    else if (strlen(words.common) > length || words.matches == 1)
        put_word(line, from, words.common, words.matches == 1);
    else
        vd_notice_say(&chat->notice, "%s", words.list);
}

// -------------------------------------------------------------------------------------------------

void vd_chat_complete_question(vd_chat *chat)
{
    const vd_navigation *nav = &chat->nav;
    const vd_line *line = &nav->line;
    bool again = line->changes == nav->line.suggested;
    if (line->length == 0 || (again && nav->stem == 0))
        suggest(chat, again && line->length > 0);
    else if (line->cursor < line->length ||
             !complete_question(chat, again ? nav->stem : line->length,
                                again ? nav->line.candidate : 0))
        complete_word(chat);
}
