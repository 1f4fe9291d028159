// Questions about what no scene has (dogs, weather), and about the picture as such.
#include "assets/blocks/state.h"

enum { TOPIC_ABSENT = 80, TOPIC_PRESENT, TOPIC_SCENE };

// Nouns, with |plural where that is not formed by rule; an empty one: a mass noun.
// clang-format off
static const char *const absent[] = {
    "dog", "cat", "bird", "horse", "animal", "fish|fish", "cow", "sheep|sheep", "mouse|mice",
    "rabbit", "elephant", "bear", "lion", "duck", "bug", "spider", "person|people", "man|men",
    "woman|women", "child|children", "kid", "boy", "girl", "baby", "human", "face", "hand", "robot",
    "tree", "flower", "plant", "mountain", "river", "cloud", "star", "house", "building", "window",
    "door", "wall", "chair", "lamp", "bed", "couch", "car", "bus", "truck", "bike", "train",
    "plane", "boat", "street", "road", "sign", "clock", "phone", "computer", "screen", "camera",
    "book", "pen", "cup", "glass", "plate", "bottle", "knife|knives", "fork", "spoon", "apple",
    "banana", "cake", "pizza", "toy", "hat", "shoe", "bag", "letter", "number", "word", "picture",
    "pyramid", "triangle", "ring", "donut", "water|", "grass|", "snow|", "rain|", "food|", "fruit|",
    "text|", "writing|", "furniture|", "fire|", "smoke|", "paper|", "money|", "sand|", "wood|",
    "music|",
};

// Words so rare that the vocabulary drops them: what the network does not know is not there.
static const char *const rare[] = {
    "giraffe", "zebra", "tiger", "monkey", "penguin", "dolphin", "whale", "shark", "snake",
    "lizard", "turtle", "frog", "wolf|wolves", "fox", "deer|deer", "goat", "pig", "chicken",
    "turkey", "goose|geese", "swan", "eagle", "owl", "parrot", "camel", "kangaroo", "panda",
    "squirrel", "hedgehog", "bat", "bee", "wasp", "ant", "butterfly", "beetle", "worm", "snail",
    "crab", "lobster", "octopus", "dragon", "unicorn", "ghost", "monster", "alien", "wizard",
    "king", "queen", "doctor", "nurse", "teacher", "soldier", "clown", "pirate", "astronaut",
    "farmer", "guitar", "piano", "violin", "drum", "trumpet", "flute", "bell", "whistle", "hammer",
    "saw", "nail", "screw", "wrench", "shovel", "rake", "bucket", "ladder", "rope", "chain", "key",
    "lock", "candle", "torch", "lantern", "pillow", "blanket", "curtain", "carpet", "mirror",
    "painting", "vase", "shelf|shelves", "desk", "bench", "stool", "sofa", "oven", "fridge",
    "kettle", "toaster", "pan", "pot", "bowl", "mug", "orange juice|", "milk|", "coffee|", "tea|",
    "beer|", "wine|", "bread|", "cheese|", "butter|", "honey|", "sugar|", "salt|", "egg", "carrot",
    "potato|potatoes", "tomato|tomatoes", "onion", "cherry", "grape", "lemon", "strawberry",
    "melon", "peach", "pear", "cookie", "candy", "burger", "sandwich", "helicopter", "rocket",
    "submarine", "tractor", "scooter", "tram", "taxi", "ambulance", "bridge", "tower", "castle",
    "church", "tent", "fence", "gate", "roof", "chimney", "stairs|stairs", "elevator", "tunnel",
    "island", "beach", "ocean", "lake", "forest", "desert", "volcano|volcanoes", "cave",
    "leaf|leaves", "bush", "rose", "mushroom", "cactus", "moon", "planet", "rainbow", "umbrella",
    "coat", "shirt", "dress", "sock", "glove", "scarf|scarves", "belt", "crown", "necklace",
    "watch", "wallet", "coin", "ticket", "map", "flag", "newspaper", "magazine", "envelope",
    "stamp", "pencil", "crayon", "brush", "ruler", "scissors|scissors", "laptop", "keyboard",
    "printer", "television", "radio", "speaker", "battery", "cable", "wheel", "engine", "balloon",
    "kite", "doll", "puzzle", "dice|dice", "football", "racket", "skateboard", "sled",
    "tennis player", "surfer", "skier", "swimmer",
};
// clang-format on

enum { ABSENT = sizeof absent / sizeof *absent, RARE = sizeof rare / sizeof *rare };

static void split_noun(const char *entry, char one[32], char many[40])
{
    size_t length = strcspn(entry, "|");
    const char *end = entry + length;
    snprintf(one, 32, "%.*s", (int)length, entry);
    if (*end == '|')
        snprintf(many, 40, "%s", end + 1);
    else if (end[-1] == 'y' && !strchr("aeiou", end[-2]))
        snprintf(many, 40, "%.*sies", (int)length - 1, entry);
    else
        snprintf(many, 40, "%s%s", one,
                 strchr("sxz", end[-1]) || (end[-1] == 'h' && strchr("cs", end[-2])) ? "es" : "s");
}

static const char *const nobody =
    "(is there anybody|is there anyone|is anyone|is anybody|do you see anyone|can you see anyone) "
    "(2:in the picture|there|around|here)";
static const char *const unseen =
    "(2:is there anything|do you see anything|is anything) "
    "(3:pink|3:brown|2:gray|gold|silver|transparent|striped|broken|alive|moving|square and pink)";
static const char *const weather =
    "(is it raining|is it snowing|can you see the sky|is the sky visible|is the sun visible|is "
    "this outside|is this outdoors|is it outside|is this a photo of a room|do you see the sun|is "
    "the (picture|image|photo) (blurry|dark|black and white)|is this a painting|are they "
    "(floating|moving|alive))";

const char *blocks_ask_absent(blocks_state *state, blocks_draft *draft)
{
    *draft = blocks_draft_new("absent", ASK_THERE);
    draft->meaning.absent = true;
    int how = vd_rng_below(&state->rng, 100);
    if (how < 20) {
        const char *pattern = how < 8 ? nobody : how < 14 ? unseen : weather;
        if (how >= 14)
            draft->meaning.ask = ASK_POLAR;
        draft->topic = blocks_topic(TOPIC_ABSENT, 1, how < 8, how < 14);
        return pattern;
    }
    bool seldom = how < 28;
    int noun = vd_rng_below(&state->rng, seldom ? RARE : ABSENT);
    char one[32], many[40], article[36];
    split_noun(seldom ? rare[noun] : absent[noun], one, many);
    snprintf(article, sizeof article, "%s %s", strchr("aeiou", one[0]) ? "n" : "", one);
    draft->topic = blocks_topic(TOPIC_ABSENT, 2, noun, seldom);
    const char *pattern;
    if (!many[0]) {
        pattern = "(3:is there any %k|2:do you see any %k|any %k|can you see any %k|is there %k in "
                  "the picture|any %k in the picture)";
    } else if (how >= 92) {
        draft->meaning.ask = ASK_COUNT;
        pattern = "(3:how many %p are there|how many %p do you see|how many %p can you see|how "
                  "many %p are in the picture)";
    } else {
        draft->plural = blocks_chance(state, 0.5);
        pattern = draft->plural
                      ? "(3:are there any %p|2:do you see any %p|can you see any %p|3:any %p|are "
                        "there any %p in the picture|are there %p|any %p in the picture)"
                      : "(4:is there a%a|2:do you see a%a|can you see a%a|2:is there a%a in the "
                        "picture|is there a%a on the table|is there a%a anywhere)";
    }
    blocks_say(state, "kpa", one, many, article);
    return pattern;
}

// What every scene has, so that unlikely things are not simply answered with no.
const char *blocks_ask_present(blocks_state *state, blocks_draft *draft)
{
    static const char *const there[] = {
        "(2:is there a table|do you see a table|can you see a table|can you see the table|is there "
        "a table in the picture)",
        "(2:are there any shadows|are there shadows|do you see shadows|can you see any shadows|do "
        "you see any shadows)",
        "(2:are there any (objects|things|shapes|blocks)|is there anything on the table|do you see "
        "any (objects|things|shapes|blocks)|are there (objects|things|blocks) on the table)",
    };
    static const char *const polar[] = {
        "(2:is the (picture|image|photo) in color|is this a color picture)",
        ("(2:are they on a table|are the (things|objects) on a table|is this a table|are they on "
         "the table)"),
        "(is the background plain|is the table gray|is the background gray)",
    };
    bool thing = blocks_chance(state, 0.6);
    int which = vd_rng_below(&state->rng, 3);
    *draft = blocks_draft_new("absent", thing ? ASK_THERE : ASK_POLAR);
    draft->meaning.yes = true;
    draft->plural = thing && which > 0;
    draft->other_thing = draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_PRESENT, thing, which, 0);
    return thing ? there[which] : polar[which];
}

// "how heavy is the red ball": nobody can tell.
static const char *ask_untold(blocks_state *state, blocks_draft *draft)
{
    blocks_target target;
    if (!blocks_target_pick_named(state, 0, &target))
        return NULL;
    *draft = blocks_draft_about("absent", ASK_SCENE, &target);
    draft->meaning.topic = SCENE_TELL;
    draft->topic = blocks_topic(TOPIC_SCENE, target.object, 100, 0);
    blocks_say(state, "t", target.text);
    return "(2:what is the weight of %t|2:how heavy is %t|how much does %t (weigh|cost)|how old is "
           "%t|who made %t|what is %t for|how far away is %t|how tall is %t in "
           "(centimeters|inches|cm)|what is inside %t|who owns %t|what does %t smell like)";
}

const char *blocks_ask_scene(blocks_state *state, blocks_draft *draft)
{
    if (blocks_chance(state, 0.2))
        return ask_untold(state, draft);
    static const char *const patterns[BLOCKS_SCENE_TOPICS] = {
        [SCENE_TELL] =
            "(what time (of day|) is it|is it day or night|what is the weather like|how is the "
            "weather|is it sunny|where was this taken|where is this|who took the picture|who made "
            "this|how old are these things|how heavy are they|what does it smell like|what is "
            "inside|what room is this|how many (centimeters|inches|cm) (tall|wide|long) (is it|are "
            "they)|how (tall|wide|heavy) (is it|are they) exactly|how much (does it|do they) "
            "(weigh|cost)|what is it used for|who do (they|these) belong to|why are they "
            "there|what are they for|do you like (it|them)|what is your favorite color|how far "
            "away are they|what is behind the camera|when was this taken|what happened here|is it "
            "(warm|cold)|what is the table made of)",
        [SCENE_WHAT] = "(2:what is in the picture|what's in the picture|2:what do you see|what can "
                       "you see|what is this a picture of|what's on the table|2:what is on the "
                       "table|what is in the image|(describe|tell me about) the "
                       "(picture|image|scene)|(list|name|tell me) (everything|all (you see|you can "
                       "see|the objects))|(what|which) (objects|things) (are there|can you see|do "
                       "you see)|what does the (picture|image) show|what is going on here)",
        [SCENE_GRAY] = "(2:what (color|colour) is the (2:table|background|floor|ground)|what is "
                       "the color of the (table|background)|what's the color of the table)",
        [SCENE_TABLE] = "(what are they (on|standing on)|what are the (things|objects) (standing|) "
                        "on|what do they stand on)",
    };
    blocks_scene_topic topic = (blocks_scene_topic)vd_rng_below(&state->rng, BLOCKS_SCENE_TOPICS);
    *draft = blocks_draft_new("absent", ASK_SCENE);
    draft->meaning.topic = topic;
    if (topic == SCENE_WHAT) { // "a cube and a ball" is true as well
        draft->meaning.objects = blocks_all(state->scene);
        draft->meaning.attribute = BLOCKS_SHAPE;
    }
    draft->other_thing = draft->other_group = topic == SCENE_GRAY;
    draft->topic = blocks_topic(TOPIC_SCENE, topic, 0, 0);
    return patterns[topic];
}
