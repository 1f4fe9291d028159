// Questions about what no scene has (dogs, weather), and about the picture as such.
#include "assets/blocks/talk.h"

enum { TOPIC_ABSENT = 80, TOPIC_PRESENT, TOPIC_SCENE };

// singular|plural; no plural: a mass noun.
// clang-format off
static const char *const absent[] = {
    "dog|dogs", "cat|cats", "bird|birds", "horse|horses", "animal|animals", "fish|fish", "cow|cows",
    "sheep|sheep", "mouse|mice", "rabbit|rabbits", "elephant|elephants", "bear|bears", "lion|lions",
    "duck|ducks", "bug|bugs", "spider|spiders", "person|people", "man|men", "woman|women",
    "child|children", "kid|kids", "boy|boys", "girl|girls", "baby|babies", "human|humans",
    "face|faces", "hand|hands", "robot|robots", "tree|trees", "flower|flowers", "plant|plants",
    "mountain|mountains", "river|rivers", "cloud|clouds", "star|stars", "house|houses",
    "building|buildings", "window|windows", "door|doors", "wall|walls", "chair|chairs",
    "lamp|lamps", "bed|beds", "couch|couches", "car|cars", "bus|buses", "truck|trucks",
    "bike|bikes", "train|trains", "plane|planes", "boat|boats", "street|streets", "road|roads",
    "sign|signs", "clock|clocks", "phone|phones", "computer|computers", "screen|screens",
    "camera|cameras", "book|books", "pen|pens", "cup|cups", "glass|glasses", "plate|plates",
    "bottle|bottles", "knife|knives", "fork|forks", "spoon|spoons", "apple|apples",
    "banana|bananas", "cake|cakes", "pizza|pizzas", "toy|toys", "hat|hats", "shoe|shoes",
    "bag|bags", "letter|letters", "number|numbers", "word|words", "picture|pictures",
    "pyramid|pyramids", "triangle|triangles", "ring|rings", "donut|donuts", "water|", "grass|",
    "snow|", "rain|", "food|", "fruit|", "text|", "writing|", "furniture|", "fire|", "smoke|",
    "paper|", "money|", "sand|", "wood|", "music|",
};

// Words so rare that the vocabulary drops them: what the network does not know is not there.
static const char *const rare[] = {
    "giraffe|giraffes", "zebra|zebras", "tiger|tigers", "monkey|monkeys", "penguin|penguins",
    "dolphin|dolphins", "whale|whales", "shark|sharks", "snake|snakes", "lizard|lizards",
    "turtle|turtles", "frog|frogs", "wolf|wolves", "fox|foxes", "deer|deer", "goat|goats",
    "pig|pigs", "chicken|chickens", "turkey|turkeys", "goose|geese", "swan|swans", "eagle|eagles",
    "owl|owls", "parrot|parrots", "camel|camels", "kangaroo|kangaroos", "panda|pandas",
    "squirrel|squirrels", "hedgehog|hedgehogs", "bat|bats", "bee|bees", "wasp|wasps", "ant|ants",
    "butterfly|butterflies", "beetle|beetles", "worm|worms", "snail|snails", "crab|crabs",
    "lobster|lobsters", "octopus|octopuses", "dragon|dragons", "unicorn|unicorns", "ghost|ghosts",
    "monster|monsters", "alien|aliens", "wizard|wizards", "king|kings", "queen|queens",
    "doctor|doctors", "nurse|nurses", "teacher|teachers", "soldier|soldiers", "clown|clowns",
    "pirate|pirates", "astronaut|astronauts", "farmer|farmers", "guitar|guitars", "piano|pianos",
    "violin|violins", "drum|drums", "trumpet|trumpets", "flute|flutes", "bell|bells",
    "whistle|whistles", "hammer|hammers", "saw|saws", "nail|nails", "screw|screws",
    "wrench|wrenches", "shovel|shovels", "rake|rakes", "bucket|buckets", "ladder|ladders",
    "rope|ropes", "chain|chains", "key|keys", "lock|locks", "candle|candles", "torch|torches",
    "lantern|lanterns", "pillow|pillows", "blanket|blankets", "curtain|curtains", "carpet|carpets",
    "mirror|mirrors", "painting|paintings", "vase|vases", "shelf|shelves", "desk|desks",
    "bench|benches", "stool|stools", "sofa|sofas", "oven|ovens", "fridge|fridges", "kettle|kettles",
    "toaster|toasters", "pan|pans", "pot|pots", "bowl|bowls", "mug|mugs", "orange juice|", "milk|",
    "coffee|", "tea|", "beer|", "wine|", "bread|", "cheese|", "butter|", "honey|", "sugar|",
    "salt|", "egg|eggs", "carrot|carrots", "potato|potatoes", "tomato|tomatoes", "onion|onions",
    "cherry|cherries", "grape|grapes", "lemon|lemons", "strawberry|strawberries", "melon|melons",
    "peach|peaches", "pear|pears", "cookie|cookies", "candy|candies", "burger|burgers",
    "sandwich|sandwiches", "helicopter|helicopters", "rocket|rockets", "submarine|submarines",
    "tractor|tractors", "scooter|scooters", "tram|trams", "taxi|taxis", "ambulance|ambulances",
    "bridge|bridges", "tower|towers", "castle|castles", "church|churches", "tent|tents",
    "fence|fences", "gate|gates", "roof|roofs", "chimney|chimneys", "stairs|stairs",
    "elevator|elevators", "tunnel|tunnels", "island|islands", "beach|beaches", "ocean|oceans",
    "lake|lakes", "forest|forests", "desert|deserts", "volcano|volcanoes", "cave|caves",
    "leaf|leaves", "bush|bushes", "rose|roses", "mushroom|mushrooms", "cactus|cactuses",
    "moon|moons", "planet|planets", "rainbow|rainbows", "umbrella|umbrellas", "coat|coats",
    "shirt|shirts", "dress|dresses", "sock|socks", "glove|gloves", "scarf|scarves", "belt|belts",
    "crown|crowns", "necklace|necklaces", "watch|watches", "wallet|wallets", "coin|coins",
    "ticket|tickets", "map|maps", "flag|flags", "newspaper|newspapers", "magazine|magazines",
    "envelope|envelopes", "stamp|stamps", "pencil|pencils", "crayon|crayons", "brush|brushes",
    "ruler|rulers", "scissors|scissors", "laptop|laptops", "keyboard|keyboards", "printer|printers",
    "television|televisions", "radio|radios", "speaker|speakers", "battery|batteries",
    "cable|cables", "wheel|wheels", "engine|engines", "balloon|balloons", "kite|kites",
    "doll|dolls", "puzzle|puzzles", "dice|dice", "football|footballs", "racket|rackets",
    "skateboard|skateboards", "sled|sleds", "tennis player|tennis players", "surfer|surfers",
    "skier|skiers", "swimmer|swimmers",
};
// clang-format on

enum { ABSENT = sizeof absent / sizeof *absent, RARE = sizeof rare / sizeof *rare };

static void split_noun(const char *entry, char one[32], char many[32])
{
    const char *bar = strchr(entry, '|');
    snprintf(one, 32, "%.*s", (int)(bar - entry), entry);
    snprintf(many, 32, "%s", bar + 1);
}

static const char *const nobody =
    "(is there anybody|is there anyone|is anyone|is anybody|do you see "
    "anyone|can you see anyone) (2:in the picture|there|around|here)";
static const char *const unseen =
    "(2:is there anything|do you see anything|is anything) "
    "(3:pink|3:brown|2:gray|gold|silver|transparent|striped|broken|alive|moving|square and pink)";
static const char *const weather =
    "(is it raining|is it snowing|can you see the sky|is the sky visible|is the sun visible|is "
    "this "
    "outside|is this outdoors|is it outside|is this a photo of a room|do you see the sun)";

bool blocks_ask_absent(blocks_talk *talk, blocks_draft *draft)
{
    *draft = blocks_draft_new("absent", ASK_THERE);
    draft->meaning.absent = true;
    int how = vd_rng_below(&talk->rng, 100);
    if (how < 20) {
        const char *pattern = how < 8 ? nobody : how < 14 ? unseen : weather;
        if (how >= 14)
            draft->meaning.ask = ASK_POLAR;
        draft->topic = blocks_topic(TOPIC_ABSENT, 1, how < 8, how < 14);
        return blocks_put(talk, draft, pattern, "");
    }
    bool seldom = how < 28;
    int noun = vd_rng_below(&talk->rng, seldom ? RARE : ABSENT);
    char one[32], many[32], article[36];
    split_noun(seldom ? rare[noun] : absent[noun], one, many);
    snprintf(article, sizeof article, "%s %s", strchr("aeiou", one[0]) ? "n" : "", one);
    draft->topic = blocks_topic(TOPIC_ABSENT, 2, noun, seldom);
    const char *pattern;
    if (!many[0]) {
        pattern = "(3:is there any %k|2:do you see any %k|any %k|can you see any %k|is there %k in "
                  "the picture|any %k in the picture)";
    } else if (how >= 92) {
        draft->meaning.ask = ASK_COUNT;
        pattern =
            "(3:how many %p are there|how many %p do you see|how many %p can you see|how many "
            "%p are in the picture)";
    } else {
        draft->plural = blocks_chance(talk, 0.5);
        pattern =
            draft->plural
                ? "(3:are there any %p|2:do you see any %p|can you see any %p|3:any %p|are there "
                  "any %p in the picture|are there %p|any %p in the picture)"
                : "(4:is there a%a|2:do you see a%a|can you see a%a|2:is there a%a in the "
                  "picture|is there a%a on the table|is there a%a anywhere)";
    }
    return blocks_put(talk, draft, pattern, "kpa", one, many, article);
}

// What every scene has, so that unlikely things are not simply answered with no.
bool blocks_ask_present(blocks_talk *talk, blocks_draft *draft)
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
        "(2:are they on a table|are the (things|objects) on a table|is this a table|are they on "
        "the "
        "table)",
        "(is the background plain|is the table gray|is the background gray)",
    };
    bool thing = blocks_chance(talk, 0.6);
    int which = vd_rng_below(&talk->rng, 3);
    *draft = blocks_draft_new("absent", thing ? ASK_THERE : ASK_POLAR);
    draft->meaning.yes = true;
    draft->plural = thing && which > 0;
    draft->other_thing = draft->other_group = true;
    draft->topic = blocks_topic(TOPIC_PRESENT, thing, which, 0);
    return blocks_put(talk, draft, thing ? there[which] : polar[which], "");
}

bool blocks_ask_scene(blocks_talk *talk, blocks_draft *draft)
{
    static const char *const patterns[BLOCKS_SCENE_TOPICS] = {
        [SCENE_TELL] = "(what time (of day|) is it|is it day or night|what is the weather like|how "
                       "is the weather|is it sunny|where was this taken|where is this|who took the "
                       "picture|who made this|how old are these things|how heavy are they|"
                       "what does it smell like|what is inside|what room is this)",
        [SCENE_WHAT] = "(2:what is in the picture|what's in the picture|2:what do you see|what can "
                       "you see|what is this a picture of|what's on the table|2:what "
                       "is on the table|what is in the image|describe the picture)",
        [SCENE_GRAY] =
            "(2:what (color|colour) is the (2:table|background|floor|ground)|what is the "
            "color of the (table|background)|what's the color of the table)",
        [SCENE_TABLE] = "(what are they (on|standing on)|what are the (things|objects) (standing|) "
                        "on|what do they stand on)",
    };
    blocks_scene_topic topic = (blocks_scene_topic)vd_rng_below(&talk->rng, BLOCKS_SCENE_TOPICS);
    *draft = blocks_draft_new("absent", ASK_SCENE);
    draft->meaning.topic = topic;
    draft->other_thing = draft->other_group = topic == SCENE_GRAY;
    draft->topic = blocks_topic(TOPIC_SCENE, topic, 0, 0);
    return blocks_put(talk, draft, patterns[topic], "");
}
