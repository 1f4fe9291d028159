#include "assets/blocks/manner.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "assets/blocks/dialog.h"
#include "assets/blocks/phrase.h"

static bool chance(vd_rng *rng, double probability)
{
    return vd_rng_uniform(rng) < probability;
}

int blocks_words(const char *text)
{
    int words = 2;
    for (; *text; text++)
        words += strchr(" ,:'.!", *text) != NULL;
    return words;
}

// ---- polite -----------------------------------------------------------------------------------

// Behind `start`: a whole question of that kind.
static const char *behind(const char *text, const char *start)
{
    size_t n = strlen(start);
    return strncmp(text, start, n) ? NULL : text + n;
}

// How a question that starts and ends so reads in another order: %x is what stands between.
typedef struct order {
    const char *start, *end, *other;
    bool thing; // between them is a thing
} order;

// Behind "could you tell me".
static const order orders[] = {
    {"how many ", " are there", "how many %x there are", false},
    {"is there ", "", "(if|whether) there is %x", false},
    {"are there ", "", "(if|whether) there are %x", false},
    {"is anything ", "", "(if|whether) anything is %x", false},
    {"is it ", "", "(if|whether) it is %x", false},
    {"what is ", " made of", "what %x is made of", true},
    {"what color is ", "", "what color %x is", true},
    {"what colour is ", "", "what colour %x is", true},
    {"which color is ", "", "which color %x is", true},
    {"what shape is ", "", "what shape %x is", true},
    {"which shape is ", "", "which shape %x is", true},
    {"what size is ", "", "what size %x is", true},
    {"which size is ", "", "which size %x is", true},
    {"where is ", "", "where %x is", true},
    {"what is ", "", "what %x is", true},
    // What asks for the subject keeps its order.
    {"which of ", "", "which of %x", false},
    {"which one is ", "", "which one is %x", false},
    {"how many of ", "", "how many of %x", false},
    {"how many are ", "", "how many are %x", false},
    {"what is left of ", "", "what is left of %x", false},
    {"what is to the ", "", "what is to the %x", false},
    {"what is next ", "", "what is next %x", false},
    {"what is in front ", "", "what is in front %x", false},
    {"what is behind ", "", "what is behind %x", false},
};

// The text in another order of its words, where one of the `count` orders fits it.
static bool reorder(vd_rng *rng, const order *list, size_t count, const char *text, char *out,
                    size_t size)
{
    size_t n = strlen(text);
    if (strchr(text, ',') || strstr(text, " or "))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *rest = behind(text, list[i].start);
        size_t end = strlen(list[i].end);
        if (!rest || strlen(rest) < end || strcmp(text + n - end, list[i].end) != 0)
            continue;
        if (list[i].thing && !behind(rest, "the ") && strncmp(rest, "it", 2) != 0)
            continue;
        char between[BLOCKS_TEXT];
        snprintf(between, sizeof between, "%.*s", (int)(strlen(rest) - end), rest);
        blocks_expand(rng, out, size, list[i].other, "x", between);
        return true;
    }
    return false;
}

// What a chatty person says before the question; before: the answer just heard, NULL: none.
static blocks_phrase small_talk(vd_rng *rng, const char *before)
{
    blocks_phrase said = {""};
    if (before && strlen(before) < 14 && !strchr(before, ',') && chance(rng, 0.25))
        // No stop behind a number: "1." is a word of its own.
        blocks_expand(rng, said.text, sizeof said.text,
                      isdigit((unsigned char)before[strlen(before) - 1])
                          ? "(3:ok so|ok|ah|oh|so|hm|alright|right,) %a(4:,|!) (5:|and|so|now)"
                          : "(3:ok so|ok|ah|oh|so|hm|alright|right,) %a(4:,|.|!) (5:|and|so|now)",
                      "a", before);
    else
        said = blocks_expansion(
            rng, "(6:|3:please,|2:excuse me,|ok,|okay|so|hey,|hi,|now|thanks,|thank "
                 "you,|well,|alright,|great,|good,|tell me,|can you tell me,|could you tell "
                 "me,|hmm,|um,|oh,|wow,|cool,|nice,|mommy,|mum,|right,|i see,|got it,|(very|) "
                 "good.|haha,|ok and|oh and|ah yes, and|last one,|last question,|next,|next "
                 "question,|one more,|let's see,|let us begin:|now then,|right then,|lovely.|ok "
                 "then|and now|thank you.|hi there!|hello,|ok cool,|interesting,|good morning,|ok "
                 "different thing,|wow ok,|great job!)");
    return said;
}

static void make_polite(vd_rng *rng, const char *answer, char *text)
{
    char other[BLOCKS_TEXT];
    blocks_phrase before, after = {""};
    if (strlen(text) > 90 || behind(text, "and ")) // the latter goes on with what was asked
        return;
    if (chance(rng, 0.5) &&
        reorder(rng, orders, sizeof orders / sizeof *orders, text, other, sizeof other)) {
        snprintf(text, BLOCKS_TEXT, "%s", other);
        before = blocks_expansion(
            rng,
            "(3:could you tell me|3:can you tell me|could you please tell me|can you please tell "
            "me|please tell me|2:tell me|do you know|please could you say|could you say|would you "
            "tell me|would you mind telling me|may i ask|i want to know|i wonder)");
    } else {
        before = small_talk(rng, answer);
    }
    if (!before.text[0] || chance(rng, 0.2))
        after = blocks_expansion(rng, (behind(text, "is ") || behind(text, "are ")) &&
                                              !strstr(text, " or ")
                                          ? "(3:please|2:, please|, thanks|2:, right)"
                                          : "(3:please|2:, please|, thanks)");
    snprintf(other, sizeof other, "%.50s%s%.94s%s%.12s", before.text, before.text[0] ? " " : "",
             text, after.text[0] && after.text[0] != ',' ? " " : "", after.text);
    snprintf(text, BLOCKS_TEXT, "%s", other);
}

// ---- British ----------------------------------------------------------------------------------

// Every word `from` of the text, or its plural, becomes `to`.
static void replace(char *text, const char *from, const char *to)
{
    char out[2 * BLOCKS_TEXT];
    size_t used = 0, n = strlen(from);
    for (const char *p = text; *p && used + 16 < sizeof out;) {
        bool start = (p == text || p[-1] == ' ') && !strncmp(p, from, n);
        if (start && !isalpha((unsigned char)p[n + (p[n] == 's')])) {
            used += (size_t)snprintf(out + used, sizeof out - used, "%s", to);
            p += n;
        } else {
            out[used++] = *p++;
        }
    }
    out[used] = 0;
    if (used < BLOCKS_TEXT)
        memcpy(text, out, used + 1);
}

static void drop(char *text, char letter)
{
    char *to = text;
    for (const char *from = text; *from; from++)
        if (*from != letter)
            *to++ = *from;
    *to = 0;
}

// ---- another language's order of words --------------------------------------------------------

static const order foreign[] = {
    {"how many ", " are there",
     "(how many %x there are|how many %x exist|how many %x it has (here|in the picture|)|how much "
     "%x are there|%x are how many|there are how many %x|exist how many %x|how many %x has the "
     "picture)",
     false},
    {"is there ", "", "(2:there is %x|exists %x|exist %x|have %x|it has %x|there exists %x)",
     false},
    {"are there ", "", "(2:there are %x|exist %x|have %x|it has %x|there exist %x)", false},
    {"is anything ", "", "(anything is %x|something is %x|is something %x)", false},
    {"what is ", " made of",
     "((of|from) what (material|) (is %x made|is %x|%x is (made|))|(from|of) which material is %x "
     "(made|)|%x is made (of|from) what|what material (has %x|%x has|%x is))",
     true},
    {"is it ", "", "it is %x", false},
    {"is that ", "", "that is %x", false},
    {"are they ", "", "(they are|these are|they) %x", false},
    {"what color is ", "",
     "((what|which) color (has %x|%x has|%x is|have %x)|of (what|which) color (is %x|%x is)|%x "
     "(has|is) (what|which) color|how is the color of %x)",
     true},
    {"what shape is ", "",
     "((what|which) (shape|form) (has %x|%x has|%x is|have %x)|of (what|which) shape (is %x|%x "
     "is)|%x (has|is) (what|which) (shape|form))",
     true},
    {"what size is ", "", "((what|which) size (has %x|%x has)|%x has (what|which) size)", true},
    {"where is ", "", "(where %x is|%x is where|in (what|which) (side|place) is %x)", true},
    {"how big is ", "", "(how big %x is|%x is how big|what size has %x)", true},
};

// "it is more big than the cube", "how many cubes it has in the picture".
static void make_foreign(vd_rng *rng, char *text)
{
    static const char *const words[][2] = {{"bigger", "more big"},   {"smaller", "more small"},
                                           {"closer", "more close"}, {"nearer", "more near"},
                                           {"made of", "made from"}, {"made of", "of"},
                                           {"matte", "mat"}};
    const char *const *word = words[vd_rng_below(rng, sizeof words / sizeof *words)];
    char other[BLOCKS_TEXT];
    if (reorder(rng, foreign, sizeof foreign / sizeof *foreign, text, other, sizeof other))
        snprintf(text, BLOCKS_TEXT, "%s", other);
    if (strlen(text) < BLOCKS_TEXT - 16)
        replace(text, word[0], word[1]);
}

// ---- in haste ---------------------------------------------------------------------------------

// What people type for a word in haste. None of these is a word that means something else here.
static const char *const slips[][2] = {
    {"the", "teh"},
    {"how", "hwo|hw"},
    {"of", "fo|ov"},
    {"it", "ti"},
    {"one", "oen"},
    {"ones", "oens|onse"},
    {"and", "adn|nad"},
    {"or", "ro"},
    {"that", "taht|tht"},
    {"those", "thsoe|thoes"},
    {"these", "thees|tehse"},
    {"does", "doe|deos"},
    {"do", "od"},
    {"have", "ahve|hve|haev"},
    {"where", "wher|whre|wehre"},
    {"number", "numbr|nubmer"},
    {"different", "diffrent|diferent|differnt"},
    {"difference", "diffrence|diference"},
    {"something", "smth|somthing"},
    {"between", "betwen|bewteen"},
    {"besides", "besdies"},
    {"else", "esle|els"},
    {"their", "thier"},
    {"only", "olny|onyl"},
    {"both", "boht|bth"},
    {"colors", "colros|clors"},
    {"middle", "midle|middel"},
    {"closest", "closet|clsoest"},
    {"closer", "colser|clsoer"},
    {"nearest", "neares|nearset"},
    {"farthest", "fartest|farhtest"},
    {"smaller", "smaler|samller"},
    {"smallest", "smalest|samllest"},
    {"than", "then|tahn"},
    {"next", "nxt|enxt"},
    {"with", "wiht|wtih"},
    {"block", "blok|blcok"},
    {"blocks", "bloks|blcoks"},
    {"what", "waht|wat|whta|hwat|wot|whot"},
    {"what's", "wots|wats|whats|waht's|whts"},
    {"color", "colr|coler|collor|colro|clr"},
    {"colour", "coluor|colur|color"},
    {"many", "mnay|amny|meny|manny"},
    {"there", "ther|tehre|thre|htere|theer"},
    {"cube", "cueb|cub|ucbe|cubbe"},
    {"cubes", "cubse|cuebs|cubess"},
    {"ball", "bal|blal|balll"},
    {"balls", "bals|blals|balsl|ballls"},
    {"sphere", "shpere|spere|sphear|spehre"},
    {"spheres", "shperes|speres|sphers"},
    {"cylinder", "cylnder|cilinder|cylindar|cyclinder|cylider|cylidner|cylinde"},
    {"cylinders", "cilinders|cylindars|cyclinders|cyliders|cylidners"},
    {"cone", "coen|ocne|cnoe|con"},
    {"cones", "coens|conse|ocnes"},
    {"thing", "thign|tihng|thng|hting"},
    {"things", "thigns|tihngs|thinsg|thngs"},
    {"object", "obejct|objct|ojbect|objet"},
    {"objects", "obejcts|objcts|ojbects|objets"},
    {"red", "rde|redd"},
    {"green", "geren|gren|greeen|grene"},
    {"blue", "bleu|bule|blu"},
    {"yellow", "yelow|yelllow|yellwo"},
    {"purple", "purpel|puprle|purpl"},
    {"orange", "ornage|oragne|orang"},
    {"white", "whtie|wite|whit"},
    {"black", "balck|blakc|blak"},
    {"metal", "metla|metel|matal|meatl|metl"},
    {"shiny", "shinny|shiney|shniy"},
    {"small", "smal|samll|smlal"},
    {"large", "lareg|lrage|larg"},
    {"big", "bgi|bigg"},
    {"bigger", "biger|biggger|bigegr"},
    {"biggest", "bigest|biggset"},
    {"which", "wich|whcih|wihch|whihc"},
    {"shape", "shpae|shap|sahpe"},
    {"shapes", "shpaes|shaps"},
    {"size", "szie|siez"},
    {"made", "mde|maed"},
    {"material", "materail|matrial|meterial"},
    {"behind", "behnid|bhind|behidn|behinde"},
    {"front", "fornt|frnot|frotn"},
    {"left", "letf|lfet|elft"},
    {"right", "rigth|rihgt|rigt|rihgt"},
    {"see", "se|ese"},
    {"are", "aer|rae|r"},
    {"is", "si"},
    {"any", "nay|ayn"},
    {"them", "tehm|thme"},
    {"they", "tehy|thye"},
    {"same", "saem|smae"},
    {"more", "mroe|moer"},
    {"most", "msot|mots"},
    {"common", "comon|commmon"},
    {"picture", "pictrue|picure|pitcure"},
    {"table", "tabel|talbe"},
    {"other", "ohter|othre|oter"},
    {"another", "anohter|anothre|anoter"},
    {"you", "u|yuo|yo"},
    {"please", "pls|plz|plese|pleas"},
    {"anything", "anyhting|anythign|anythin"},
    {"everything", "everyting|evrything|everythign"},
    {"tell", "tel|tlel"},
    {"where's", "wheres|wher's"},
    {"rubber", "ruber|rubebr|rubbre|rubbr"},
};

enum { SLIPS = sizeof slips / sizeof *slips };

static const char *slip_of(const char *word, size_t length)
{
    for (int i = 0; i < SLIPS; i++)
        if (strlen(slips[i][0]) == length && !strncmp(slips[i][0], word, length))
            return slips[i][1];
    return NULL;
}

// One word of those that can be mistyped.
static void slip(vd_rng *rng, char *text, size_t size)
{
    const char *at[BLOCKS_TEXT / 2], *as[BLOCKS_TEXT / 2];
    int count = 0;
    for (const char *p = text; *p; p += strspn(p, " ,")) {
        size_t n = strcspn(p, " ,");
        const char *wrong = slip_of(p, n);
        if (wrong) {
            at[count] = p;
            as[count++] = wrong;
        }
        p += n;
    }
    if (!count)
        return;
    int which = vd_rng_below(rng, count);
    char pattern[64], out[BLOCKS_TEXT + 64];
    snprintf(pattern, sizeof pattern, "(%.60s)", as[which]);
    snprintf(out, sizeof out, "%.*s%.20s%s", (int)(at[which] - text), text,
             blocks_expansion(rng, pattern).text, at[which] + strcspn(at[which], " ,"));
    if (strlen(out) < size)
        snprintf(text, size, "%s", out);
}

// ---- words that nobody knows ------------------------------------------------------------------

// Made-up words, so many that none comes often enough to be learned: a network learns that words it
// does not know ("dude", "kindly") change nothing.
static void made_up(vd_rng *rng, char out[16])
{
    static const char consonants[] = "bdgjkvwz", vowels[] = "aeou";
    int letters = 2 * (4 + vd_rng_below(rng, 2));
    for (int i = 0; i < letters; i++)
        out[i] = i % 2 ? vowels[vd_rng_below(rng, 4)] : consonants[vd_rng_below(rng, 8)];
    out[letters] = 0;
}

// Before the question, behind it or between two of its words.
static void add_stray(vd_rng *rng, char *text, size_t size)
{
    char word[16], out[BLOCKS_TEXT + 32];
    made_up(rng, word);
    int where = vd_rng_below(rng, 10), blanks = 0;
    for (const char *p = text; *p; p++)
        blanks += *p == ' ';
    const char *at = text;
    for (int skip = blanks ? vd_rng_below(rng, blanks) : 0; where >= 7 && (at = strchr(at, ' '));)
        if (at++, skip-- == 0)
            break;
    const char *comma = vd_rng_below(rng, 2) ? "," : "";
    if (where < 4)
        snprintf(out, sizeof out, "%s%s %s", word, comma, text);
    else if (where < 7 || !at)
        snprintf(out, sizeof out, "%s%s %s", text, comma, word);
    else
        snprintf(out, sizeof out, "%.*s%s %s", (int)(at - text), text, word, at);
    if (strlen(out) < size && blocks_words(out) <= BLOCKS_MOST_WORDS)
        snprintf(text, size, "%s", out);
}

// ---- remarks ------------------------------------------------------------------------------------

// What somebody says beside the question, before it or behind it: it changes nothing.
static void add_remark(vd_rng *rng, char *text, size_t size)
{
    static const char *const before =
        "(2:i see a lot of %v here, but|i count (2|two|3|three), but|hm, i am not sure,|let me "
        "think,|it is hard to see,|i can't see it so well,|2:my "
        "(daughter|son|friend|wife|husband|mother|teacher|kid) (asks|wants to know)(2:,|)|(the|my) "
        "(class|kids|children|pupils) (ask|want to know)(,|)|2:(and|) %n (asks|wants to "
        "know)(2:,|:|)|2:(and|) %n(,|:)|so the caption says that,|(nice|what a nice) picture,|i "
        "have a question,|one question,|another question,|quick question,|just checking,|just to "
        "be sure,|sorry,|sorry to ask but|i am new here,|i just wonder,|not sure,|i think i see it "
        "but|there is a lot going on here,)";
    static const char *const behind_it =
        "(i think it could be (two|three|four|3|4|5)|i can't (really|) (see|tell) it (so well|)|it "
        "is hard to (see|say|tell)|it's (a bit|) hard (to say|for me)|2:because (it|that) looks %v "
        "to me|since (it|one|that) looks %v|i think it looks %v|2:i think|2:i guess|i believe|i "
        "count (2|two|3|three|4|four) but maybe i missed one|if you can (see|tell)|just curious|i "
        "am curious|if i may ask|i am not (really|) sure|not sure|my guess is %v|it is so small|my "
        "eyes are bad)";
    static const char *const values =
        "(red|green|blue|yellow|purple|orange|white|black|shiny|metal|rubber|matte|small|big)";
    static const char *const names = "(tom|anna|ben|lisa|paul|emma|max|sara|jonas|maria)";
    bool first = chance(rng, 0.5);
    char remark[BLOCKS_TEXT], out[2 * BLOCKS_TEXT + 4];
    blocks_phrase name = blocks_expansion(rng, names), value = blocks_expansion(rng, values);
    blocks_expand(rng, remark, sizeof remark, first ? before : behind_it, "vn", value.text,
                  name.text);
    snprintf(out, sizeof out, "%s%s %s", first ? remark : text, first ? "" : ",",
             first ? text : remark);
    if (strlen(out) < size && blocks_words(out) <= BLOCKS_MOST_WORDS)
        snprintf(text, size, "%s", out);
}

// "how many are black, sorry, orange", "what is on the right, i mean left": a second thought about
// a color, a shape or a side.
static void add_correction(vd_rng *rng, char *text, size_t size)
{
    static const char *const shapes[] = {"cubes", "balls", "cylinders", "cones", "things"};
    static const char *const sides[] = {"left", "right"};
    static const struct {
        const char *const *word;
        int count;
    } lists[] = {{blocks_color_names, BLOCKS_COLORS}, {shapes, 5}, {sides, 2}};
    int kind = vd_rng_below(rng, 3), wrong = vd_rng_below(rng, lists[kind].count);
    const char *other = lists[kind].word[wrong];
    for (int w = 0; w < lists[kind].count; w++) {
        const char *word = lists[kind].word[w], *at = strstr(text, word);
        bool whole = at && at > text && at[-1] == ' ' && !isalpha((unsigned char)at[strlen(word)]);
        // "right behind", "so only cubes, right" and "the one that is left" are no sides.
        bool side = kind < 2 || (at && at - text >= 4 && !strncmp(at - 4, "the ", 4)) ||
                    (at && behind(at + strlen(word), " of "));
        if (!whole || !side || w == wrong || strstr(text, " or ") || strstr(text, other))
            continue;
        char out[2 * BLOCKS_TEXT];
        // "how many cubes, or rather, how many balls are there"
        const char *again = kind == 1 && text + 9 == at && behind(text, "how many ") ? text : at;
        snprintf(out, sizeof out, "%.*s%s, %s %s", (int)(at - text), text, other,
                 blocks_expansion(rng, "(sorry,|i mean|wait,|or rather|uh,|no wait,|i meant)").text,
                 again);
        if (strlen(out) < size && blocks_words(out) <= BLOCKS_MOST_WORDS)
            snprintf(text, size, "%s", out);
        return;
    }
}

// "is there another cube besides the red one" with the exception first.
static void exception_first(vd_rng *rng, char *text, size_t size)
{
    static const char *const buts[] = {" besides ",    " apart from ", " other than ",
                                       " except for ", " except ",     " aside from "};
    char out[2 * BLOCKS_TEXT];
    if (behind(text, "is everything") || behind(text, "are all")) // goes on behind the thing
        return;
    for (size_t i = 0; i < sizeof buts / sizeof *buts; i++) {
        const char *at = strstr(text, buts[i]);
        const char *thing = at ? at + strlen(buts[i]) : NULL;
        // At the end, and a thing alone.
        if (!thing || strchr(text, ',') || blocks_words(thing) > 6 || strstr(thing, " are ") ||
            !chance(rng, 0.2) || (strncmp(thing, "th", 2) != 0 && strcmp(thing, "it") != 0))
            continue;
        snprintf(out, sizeof out, "%s, %.*s", at + 1, (int)(at - text), text);
        if (strlen(out) < size)
            snprintf(text, size, "%s", out);
        return;
    }
}

// "it's red", "that's the biggest", and what is typed without looking for the apostrophe.
static void contract(vd_rng *rng, char *text, size_t size, bool bare)
{
    static const char *const starts[][2] = {{"it is ", "it's "},       {"that is ", "that's "},
                                            {"they are ", "they're "}, {"what is ", "what's "},
                                            {"where is ", "where's "}, {"there is ", "there's "}};
    char out[2 * BLOCKS_TEXT];
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        const char *rest = behind(text, starts[i][0]);
        if (rest && chance(rng, 0.2)) {
            snprintf(out, sizeof out, "%s%s", starts[i][1], rest);
            snprintf(text, size, "%s", out);
            break;
        }
    }
    if (bare)
        drop(text, '\'');
}

// ---- all --------------------------------------------------------------------------------------

unsigned blocks_manner_draw(vd_rng *rng)
{
    static const struct {
        unsigned manner;
        double chance;
    } often[] = {{BLOCKS_POLITE, 0.15}, {BLOCKS_BRITISH, 0.15}, {BLOCKS_HASTY, 0.1},
                 {BLOCKS_STRAY, 0.15},  {BLOCKS_REMARK, 0.12},  {BLOCKS_FOREIGN, 0.12}};
    unsigned drawn = 0;
    for (size_t i = 0; i < sizeof often / sizeof *often; i++)
        if (chance(rng, often[i].chance))
            drawn |= often[i].manner;
    return drawn;
}

void blocks_manner_apply(vd_rng *rng, unsigned manner, const char *before, char *text, size_t size)
{
    bool polite = chance(rng, manner & BLOCKS_POLITE ? 0.6 : 0.02);
    bool hasty = chance(rng, manner & BLOCKS_HASTY ? 0.5 : 0.01);
    exception_first(rng, text, size);
    if (chance(rng, manner & BLOCKS_FOREIGN ? 0.6 : 0.01))
        make_foreign(rng, text);
    // Politeness adds up to that many words: "would you mind telling me ..., thanks".
    if (polite && blocks_words(text) < BLOCKS_MOST_WORDS - 7)
        make_polite(rng, before, text);
    if (chance(rng, manner & BLOCKS_REMARK ? 0.1 : 0.01))
        add_correction(rng, text, size);
    if (!polite && chance(rng, manner & BLOCKS_REMARK ? 0.4 : 0.015))
        add_remark(rng, text, size);
    contract(rng, text, size, chance(rng, manner & BLOCKS_HASTY ? 0.5 : 0.06));
    if (manner & BLOCKS_BRITISH) {
        replace(text, "color", "colour");
        replace(text, "gray", "grey");
        replace(text, "center", "centre");
    }
    // What some call the shapes.
    static const char *const called[][2] = {{"cylinder", "tube"},
                                            {"cube", "square"},
                                            {"ball", "circle"},
                                            {"ball", "round thing"},
                                            {"cone", "pointy thing"}};
    const char *const *shape = called[vd_rng_below(rng, 5)];
    if (strlen(text) < BLOCKS_TEXT - 32 && chance(rng, 0.04))
        replace(text, shape[0], shape[1]);
    if (chance(rng, manner & BLOCKS_HASTY ? 0.5 : 0.08))
        drop(text, ',');
    if (hasty && chance(rng, 0.3))
        replace(text, "in front", "infront");
    for (double more = manner & BLOCKS_STRAY ? 0.35 : 0.02; chance(rng, more); more = 0.35)
        add_stray(rng, text, size);
    for (int i = 0; hasty && i < 2; i++)
        if (i == 0 || chance(rng, 0.3))
            slip(rng, text, size);
}
