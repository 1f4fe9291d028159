// What one network made of a question, as members of a JSON map.
#ifndef VD_ANSWER_JSON_H
#define VD_ANSWER_JSON_H

#include <yajl/yajl_gen.h>

#include "tui/answer/sheet.h"

// "tokens" that it saw, and which of them are "unknown".
void vd_sheet_json_words(yajl_gen json, const vd_sheet_side *side);
// A list of the first `most` rows of the ranking: {"text", "probability"}, and "alike" where alike
// answers are one.
void vd_sheet_json_answers(yajl_gen json, const char *key, const vd_sheet_side *side, int most);
// "attention": {"rounds", "regions": [{"number", "name" where it is known, "box", "weight"}],
// "words", "further": [{"name", "part", "index", "of", "key", "shares"}]}: the last ones from the
// question to these, empty where the network shows none; "further" is left out where there are no
// others.
void vd_sheet_json_attention(yajl_gen json, const vd_sheet *sheet, int side);
// "name", and "part", "index" and "of" of one of several.
void vd_json_attention_name(yajl_gen json, const vd_attention *attention);

#endif
