#!/usr/bin/env python3
"""Judges Blocks dialogs as a person would who sees the scene and reads the text.

    blocks_solver.py DIALOGS.json DENSE.json SCENES.json [--show N]

Reads only the objects of the scenes and the words of captions, questions and answers; neither the
families nor the coreferences that the generator notes, and none of its code. For each question it
finds what the question means, with what "it", "that cube" or "they" refers to in the conversation so
far, and whether the answer, and each candidate whose relevance is 1, is true. A question whose
reference a person could not resolve counts as wrong unless the answer is true of every reading.

Prints "questions Q, read R, wrong W, with reference F, wrong G" and the wrong ones (at most N).
"""
import json
import math
import re
import sys
from itertools import chain

VALUES = {}
for attribute, words in {
        'color': 'red green blue yellow purple orange white black',
        'shape': 'cube:cubes,box,boxes,block,square,squares '
                 'ball:balls,sphere,spheres,orb,orbs,circle,circles cylinder:cylinders,tube,tubes '
                 'cone:cones',
        'material': 'rubber:matte,matt,dull,soft metal:metallic,shiny,glossy,hard',
        'size': 'small:little,tiny large:big,huge'}.items():
    for word in words.split():
        name, _, others = word.partition(':')
        for spelling in [name] + others.split(',') * bool(others):
            VALUES[spelling] = (attribute, name)
NOUNS = 'thing things object objects item items shape shapes one ones 1 blocks solids pieces'.split()
PLURALS = {'cubes', 'boxes', 'squares', 'circles', 'tubes', 'balls', 'spheres', 'orbs', 'cylinders', 'cones', 'things', 'objects', 'items',
           'shapes', 'ones', 'blocks', 'solids', 'pieces'}
SIDE = (r'to the left of|on the left of|on the left side of|left of|to the right of|on the right of|on the right side of|'
        r'right of|in front of|behind|in back of|next to|closest to|nearest to|nearest|near|beside|by')
DIRECTION = rf'(?P<dir>{SIDE})'
HERE = (r'(?: (?:on the table|in the picture|in the image|in this picture|here|in the scene|'
        r'in total|total|altogether|in all|overall|does the picture have|(?:have (?:we|you)|we|you) got|do we have|'
        r'are we looking at|anywhere|somewhere|in there))?')
EXTREMES = [
    ('left', r'leftmost|left|most left', r'(?:first|1st) from (?:the )?left|to the left|(?:the )?most left|(?:on the far|on the|all the way on the|way over on the) left(?: side)?|'
             r'furthest to the left|'
             r'f[au]rthest left|(?:closest|nearest) to the left (?:edge|side)|all the way on the left'),
    ('right', r'rightmost|right|most right', r'(?:first|1st) from (?:the )?right|to the right|(?:the )?most right|(?:on the far|on the|all the way on the|way over on the) right(?: '
              r'side)?|furthest to the right|'
              r'f[au]rthest right|(?:closest|nearest) to the right (?:edge|side)|all the way on the right'),
    ('front', r'closest|nearest|frontmost|front', r'(?:first|1st) from (?:the )?front|in the (?:very )?front|in front|in the foreground|(?:right )?at the front|'
              r'(?:closest|nearest)(?: to (?:you|us|me|the camera|the viewer))?'),
    ('behind', r'farthest|furthest|back', r'(?:first|1st) from (?:the )?back|(?:all the way |way )?in the back|in the background|on the far side(?: of the table)?|at the (?:very )?back|'
               r'(?:farthest|furthest)(?: away)?(?: from (?:the camera|us|me))?|furthest back'),
    ('middle', r'middle', r'in the middle|in the center|in the centre|'
               r'closest to the (?:middle|center)')]
CORNERS = [(f'{side} {depth}', rf'(?:{words}) {side}', rf'(?:in|at|on) the (?:{words}) {side}(?: corner)?')
           for side in ('left', 'right') for depth, words in (('front', 'bottom|lower|front'), ('behind', 'top|upper|back'))]
EXTREMES += CORNERS
IT = {'it', 'that one', 'that', 'that thing', 'that object', 'this one', 'this thing', 'that 1',
      'this 1', 'this', 'its'}
ONE = re.compile(r'\b(?:one|1)\b')
THAT = {'that other one', 'the other one', 'that other 1', 'the other 1', 'other one', 'other 1', 'that one', 'that 1', 'that', 'that thing', 'that object', 'this one', 'this 1'}


# ---- how people type ------------------------------------------------------------------------------

ASKING = (r'(?:(?:could|can|would) you (?:please )?tell me|(?:please )?could you say|please tell me|tell me|do you know|'
          r'would you mind telling me|may i ask|i want to know|i wonder)')
ORDERS = [(r'(what color) would you say (.*) is', r'\1 is \2'), (r'(how many .*?) there are(.*)', r'\1 are there\2'), (r'(?:if|whether) there (is|are) (.*)', r'\1 there \2'),
          (r'(?:if|whether) anything is (.*)', r'is anything \1'), (r'(?:if|whether) it is (.*)', r'is it \1'),
          (r'what (.*) is made of', r'what is \1 made of'),
          (r'((?:what|which) (?:color|shape|size)) (.*) is', r'\1 is \2'),
          (r'(where|what) (.*) is', r'\1 is \2')]
OTHER_WORDS = set('cable hat lock locks snow hand sand cup bat ring bell bells clock clocks wall walls glass glasses star stars '
                  'orange shark call fox foxes'.split())
WORDS = set()
SHORT = {'mat': 'matte', 'ocne': 'cone', 'coler': 'color', 'matal': 'metal', 'nr': 'number', 'matt': 'matte', 'ot': 'to', 'num': 'number', 'r': 'are', 'smth': 'something', 'clr': 'color', 'hwo': 'how', 'meny': 'many', 'bigest': 'biggest', 'ther': 'there', 'sphear': 'sphere', 'thre': 'there',
          'u': 'you', 'yo': 'you', 'pls': 'please', 'plz': 'please', 'whta': 'what', 'hwat': 'what',
         'hw': 'how', 'fo': 'of', 'ov': 'of', 'ti': 'it', 'oen': 'one', 'oens': 'ones', 'onse': 'ones', 'adn': 'and',
         'nad': 'and', 'ro': 'or', 'tht': 'that', 'taht': 'that', 'doe': 'does', 'od': 'do', 'hve': 'have', 'ahve': 'have',
         'haev': 'have', 'wher': 'where', 'whre': 'where', 'con': 'cone', 'nxt': 'next', 'blok': 'block', 'thees': 'these',
         'tehse': 'these', 'closet': 'closest', 'neares': 'nearest', 'bloks': 'blocks', 'smaler': 'smaller',
         'wat': 'what', 'wot': 'what', 'whot': 'what', 'wots': 'what is', 'wats': 'what is', 'whats': 'what is',
         "waht's": 'what is', 'whts': 'what is', 'whihc': 'which', 'infront': 'in front', 'wheres': 'where is', "wher's": 'where is', 'thng': 'thing', 'colro': 'color',
         'thats': "that's", 'isnt': "isn't", 'arent': "aren't", 'theres': 'there is', 'theyre': 'they are', 'doesnt': "doesn't",
         'cant': "can't", 'lets': "let's", 'its': 'its'}


def learn_words():
    words = set(VALUES) | set(NOUNS) | PLURALS
    for text in chain((p for p, _ in QUESTIONS), (p for p, _ in ORDERS_OF_WORDS),
                      [DIRECTION, HERE, ASKING, EXISTS, BEFORE, BEHIND], *EXTREMES):
        text = re.sub(r'\(\?P<\w+>|\\[a-z]|\(\?[:=!]', ' ', text)
        text = text.replace('colou?r', 'color').replace("'s", ' ')
        words |= {w for w in re.findall(r"[a-z']+", text) if len(w) > 1}
    for word in ('um uh mum pointy then part half foreground background up hand close sum plus minus total count number either neither nor missing happen '
                 'difference exactly non rest find give show point sure certain positive doubt seriously really altogether both list '
                 'used visible present occur occurs contain contains stand stands standing neighbor true false correct asked comes then '
                 'first without except hiding sides side add makes '
                 "let last question next let's us begin morning different lovely interesting job wow cool hello again take look as for think "
                 'heard hm ah ok alright got haha these two three four five six seven eight nine '
                 'please thanks thank you excuse hey okay great now round same mentioned talked before '
                 'about previous biggest largest smallest littlest second third from other or not yes correct'.split() + list(IT)):
        words |= set(word.split())
    WORDS.update(words)
    # Compiled once: there are more than the re module remembers.
    QUESTIONS[:] = [(re.compile(pattern.replace(', ', ',? ')), make) for pattern, make in QUESTIONS]


def near_words(word):
    """A word of ours that is one slip away: letters swapped, one left out, doubled or wrong."""
    n = len(word)
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2:] for i in range(n - 1)}
    added = {word[:i] + c + word[i:] for i in range(n + 1) for c in 'abcdefghijklmnopqrstuvwxyz'}
    dropped = {word[:i] + word[i + 1:] for i in range(n)}
    changed = {word[:i] + c + word[i + 1:] for i in range(n) for c in 'abcdefghijklmnopqrstuvwxyz'
               } if n > 4 else set()
    for slips in (swapped, added, dropped if n > 3 else set(), changed):
        found = slips & WORDS
        if found:
            return found
    return set()


def spelled(question):
    """The question without words that nobody knows and with its slips put right, of which no two readings may be
    left."""
    stray = r'(?:[bdgjkvwz][aeou]){4,5}'
    question = re.sub(rf'^(?:{stray},? )+|,? {stray}\b', '', question)
    question = re.sub(r'#|\bno\.(?= of\b)', ' number ', question)
    words = []
    for word in re.findall(r"[a-z0-9']+|,", question.replace(':', ',')):
        if word in SHORT:
            word = SHORT[word]
        elif word not in WORDS and word not in OTHER_WORDS and len(word) > 1 and word.isalpha():
            found = near_words(word)
            word = next(iter(found)) if len(found) == 1 else word
        words.append(word)
    return ' '.join(words).replace(' ,', ',')


def uncontracted(text):
    text = re.sub(r'^(it|that|they|what|where|there)\'(?:s|re) ', lambda m: m[1] + (' are ' if m[1] == 'they' else ' is '), text)
    text = re.sub(r'^its (?!color|colour|shape|material|size)', 'it is ', text)
    return re.sub(r'\bround (thing|1|one)(s?)\b', r'ball\2', re.sub(r'\bpointy (thing|one|1)(s?)\b', r'cone\2', text))


def straight(text):
    """Without a fact before it, an exception behind it: "besides the ball, is there anything red"."""
    text = re.sub(r'^(?:and )?(?:i see|there is|i notice) another ([^,]*?),? (?=(?:what|which|is|how|it|would|isn)\b)', r'about the other \1, ', text)
    text = re.sub(rf'^{BUT} ([^,]+?),? ((?:what|which|how|is|are|do|does|any|another|other)\b.*)$', r'\2 besides \1', without_fact(text))
    return re.sub(r'^is everything (?:else )?((?!besides |else ).*) besides (.*)$', r'is everything besides \2 \1', text)


def without_fact(text):
    """Without "9 things, ok", which is true and says nothing about what is asked."""
    say = '(?:ok|so|right|nice|alright|hm|i see|i count|there are),? '
    fact = rf'(?:{say})?\d+ (?:(?:{"|".join(VALUES)}) ){{0,3}}(?:{"|".join(PLURALS)})(?:,? (?:ok|hm|fine|right))?,? '
    rest = re.sub(rf'^{fact}(?=\w)', '', text)
    return rest if len(rest.split()) > 1 and not re.match('(?:right|correct)$|(?:in total|total|altogether|overall)\\b|(?:are|is) (?:they|it|those)', rest) else text


def without_echo(question, before):
    """The question without the answer just heard, which some repeat: "ok, 2. and ..."."""
    if not before:
        return question
    heard = re.escape(spelled(before)).replace(',', ',?').replace("'", "'?")
    return re.sub(rf'^(?:ok so|ok|ah|oh|so|hm|alright|right,?) {heard},? (?:and |so |now )?', '', question)


NAME = '(?:tom|anna|ben|lisa|paul|emma|max|sara|jonas|maria)'
BEFORE = (rf"(?:i see a lot of \w+ here,? but|i count (?:2|two|3|three),? but|hm,? i am not sure,?|let me think,?|it is hard to see,?|"
          rf"i can't see it so well,?|my (?:daughter|son|friend|wife|husband|mother|teacher|kid) (?:asks|wants to know),?|"
          rf"(?:the|my) (?:class|kids|children|pupils) (?:ask|want to know),?|(?:and )?{NAME}(?: asks| wants to know)?,?|"
          rf"so the caption says that,?|(?:what a )?nice picture,?|i have a question,?|(?:one|another|quick|1) question,?|"
          rf"just (?:checking|to be sure),?|sorry(?: to ask but)?,?|i am new here,?|i just wonder,?|not sure,?|i think i see it but|"
          rf"there is a lot going on here,?)")
BEHIND = (r"(?:i think it could be \w+|i can't (?:really )?(?:see|tell)(?: it)?(?: so well)?|it is hard to (?:see|say|tell)|it'?s (?:a bit )?hard (?:to say|for "
          r"me)|because (?:it|that) looks \w+ to me|since (?:it|one|1|that) looks \w+|i think it looks \w+|i think|i guess|i believe|i "
          r"count (?:\d|two|three|four) but maybe i missed (?:one|1)|if you can (?:see|tell)|just curious|i am curious|if i may ask|"
          r"i am not (?:really )?sure|not sure|my guess is \w+|it is so small|my eyes are bad)")
SURE = (r"(?:ok |and |but )?(?:(?:are )?you (?:are )?(?:really |quite |very |absolutely |so )?(?:sure|certain|positive)(?: (?:about|of) (?:that|it|this))?|"
        r"(?:really|sure|seriously|positive|certain|for real|no doubt|for sure|honestly|absolutely)|(?:is (?:it|that)|it is|that is) "
        r"(?:really |actually )?(?:so|true|correct|right)|is that right)(?: now)?")
# The order of words of other languages, and the usual ones.
FOREIGN = [
    (r'^do they both ', 'do those two '),
    (r'\b(the (?:others|rest|other ones|other (?:two|2|three|3)|remaining (?:ones|two|2|three|3))) is\b', r'\1 are'),
    (r'\bis (the (?:others|rest|other ones|other (?:two|2|three|3)|remaining (?:ones|two|2|three|3)))$', r'are \1'),
    (r' as each other$', ''), (r'(?<=\bsame) (?=color|size|shape|material)', ' '),
    (r'(?<!any )\bmore (big|small|close|near)\b(?! things| objects| items| cubes| balls| cones| cylinders| ones)',
     lambda m: {'big': 'bigger', 'small': 'smaller', 'close': 'closer', 'near': 'nearer'}[m[1]]),
    (rf"^other ((?:\w+ )?(?:{'|'.join(PLURALS)}))$", r'any other \1'),
    (r'^are (.*) (?:equal|alike|identical) in (color|shape|size|material)$', r'are \1 the same \2'), (r'^are (.*) of (?:equal|identical) (color|shape|size|material)$', r'are \1 the same \2'),
    (r'\bmade from\b', 'made of'), (r'\bmat\b', 'matte'),
    (r'^how many (.*) (?:there are|exist|it has(?: here| in the picture)?)$', r'how many \1 are there'),
    (r'^how much (.*) are there$', r'how many \1 are there'), (r'^(.*) are how many$', r'how many \1 are there'),
    (r'^(?:there are|exist) how many (.*)$', r'how many \1 are there'),
    (r'^how many (.*) has the picture$', r'how many \1 are there'),
    (r'^it has (?:the )?same (color|shape|size|material) (as|like) ', r'is it the same \1 as '),
    (r"^(?:exists|exist|have(?! you)(?! we)|it has|there exists?|there is|there are) ((?!a lot |how many |what |which )(?!.*,? isn't there$)(?!.*,? right$).*)$",
     lambda m: f"{'are' if is_many(m[1]) else 'is'} there {re.sub('^also ', '', m[1])}"),
    (r'^(?:is|are) there (?:the )?same (color|shape|material|size)$', r'do they have the same \1'),
    (r'^(?:anything|something) is (.*)$', r'is anything \1'), (r'^is something (.*)$', r'is anything \1'),
    (r'^(?:of|from) what (?:material )?is (.*?)(?: made)?$', r'what is \1 made of'),
    (r'^(?:of|from) what (?:material )?((?:the|it).*?) is(?: made)?$', r'what is \1 made of'),
    (r'^(?:of|from) which material is (.*?)(?: made)?$', r'what is \1 made of'),
    (r'^(.*) is (?:made )?of what$', r'what is \1 made of'), (r'^what material has (.*)$', r'what is \1 made of'),
    (r'^what material ((?:the|it).*?) (?:has|is)$', r'what is \1 made of'),
    (r'^(it|that) is (?!.*\b(?:what|which)\b|how |where |.*, )', r'is \1 '),
    (r'^(?:they are|these are|they) (?!have |all have |both have |.*\b(?:what|which)\b|how |where |.*, )', r'are they '),
    (r'^(?:of )?(?:what|which) (color|shape|form|size) (?:has|have(?! .*s$)) ((?:the|it)\b.*)$', r'what \1 is \2'),
    (r'^(?:of )?(?:what|which) (color|shape|form|size) ((?:the|it)\b.*?) (?:has|is)$', r'what \1 is \2'),
    (r'^of (?:what|which) (color|shape) is (.*)$', r'what \1 is \2'), (r'^(what|which) (color) would you say (.*) is$', r'\1 \2 is \3'),
    (r'^(.*) (?:has|is) (?:what|which) (color|shape|form|size)$', r'what \2 is \1'),
    (r'^how is the color of (.*)$', r'what color is \1'), (r'^what form is', 'what shape is'),
    (r'^where ((?:the|it)\b.*?) is$', r'where is \1'), (r'^(.*) is where$', r'where is \1'),
    (r'^in (?:what|which) (?:side|place) is (.*)$', r'where is \1'),
    (r'^how big ((?:the|it)\b.*?) is$', r'how big is \1'), (r'^(.*) is how big$', r'how big is \1'),
]
COMPARED = '(?:bigger|larger|taller|smaller|shorter|littler|closer|nearer)'
# Other orders of words, and the usual ones for them.
ORDERS_OF_WORDS = [
    (r'^(?:is|are) the numbers? of (.*) (?:greater|larger|higher|bigger) than (?:the number|that) of (.*)$', r'are there more \1 than \2'),
    (r'^(?:is|are) the numbers? of (.*) (?:less|smaller|lower) than (?:the number|that) of (.*)$', r'are there fewer \1 than \2'),
    (r'^(?:is|are) the numbers? of (.*) (?:equal to|the same as) (?:the number|that) of (.*)$', r'are there as many \1 as \2'),
    (r'^(?:is|are) there an equal number of ', 'are there the same number of '), (r'^are there exactly as many ', 'are there as many '),
    (rf'^(?!is |which |of |between )(.*) (?:or|vs|versus) ([^,]*?),? (?:(?:which|who) (?:is )?)?({COMPARED})$', r'which is \3, \1 or \2'),
    (rf'^(?:who is|who|which) ({COMPARED}),? (?!is |to )(.* or .*)$', r'which is \1, \2'),
    (r'^(metal|rubber) or (metal|rubber),? (?:which|what) is (?:there )?more$', r'more \1 or \2'),
    (r'^so how many ', 'how many '), (r'^are (the .*s) same (color|shape|size|material)$', r'are \1 the same \2'), (r'^describe their ', 'their '), (r'^(\w+ and \w+) (?:in total|together)$', r'how many \1 are there'), (r'^(.*s) any$', r'are there any \1'), (r'^what number of others? ', 'how many other '),
    (r'^how many others (?:have|are|share) the same ', 'how many other things have the same '),
    (rf'^(?:no,? |sorry,? )?i (?:mean|meant) ((?:\w+ )*(?:{"|".join(PLURALS)}))$', r'what about \1'),
    (r"^(?:of|from) what is (.*) made$", r'what is \1 made of'), (r'^(?:of|from) (what|which) material is (.*?)(?: made)?$', r'\1 material is \2'),
    (r'^(.*) is made of what$', r'what is \1 made of'), (r'^(.*) (?:is|has) (what|which) (color|shape|size)$', r'\2 \3 is \1'),
    (r'^(.*) is how big$', r'how big is \1'), (r"^(.*) is (.*?),? (?:isn't it|is it)$", r'is \1 \2'),
    (r'^(.*) must be (.*?),? (?:right|is it|isn\'t it)$', r'is \1 \2'), (r"^(.*) looks (.*?),? (?:right|doesn't it)$", r'is \1 \2'),
    (r'^is (.*) (?:really|actually) (.*)$', r'is \1 \2'), (r'^((?:the|it|that|this)\b(?!.*\b(?:what|which|how)\b).*) is ((?:an? |(?:made )?of )?\w+)$', r'is \1 \2'),
    (r"^is (it|that) (.*?),? (?:is it|isn't it)$", r'is \1 \2'), (r'^are (they|those) (\w+) then$', r'are \1 \2'),
    (r'^(?:(?:ok )?now |and )?the (.*?),? how many(?: of (?:them|those))? are there$', r'how many \1 are there'),
    (r'^(?:so )?all of (them|those|these|the (?:rest|others?|other .*|remaining .*)|those two|these two) are (.*?)(?:,? (?:right|correct))?$', r'are \1 all \2'),
    (r'^(?:is there |there is )?something ((?:just |right |directly )?.*?),? what is (?:it|that)$', r'what is \1'),
    (r'^(?:and )?the thing ((?:just |right |directly )?.*?),? what is (?:it|that)$', r'what is \1'),
    (r'^(?:describe|tell me) the (?:thing|object) ((?:just |right |directly )?' + 'DIRECTION' + r' .*)$', r'what is \1'),
    (r'^what do i see ((?:just |right |directly )?)', r'what is \1'), (r'^what is (?:standing|lying|sitting) ', 'what is '),
    (r'^((?!do |does |is |are |has |how many |(?:and |so )?(?:which|what) )[^,]*) have (?:the )?same (color|shape|material|size)$', r'do \1 have the same \2'),
    (r'^(?:and |now )?((?:the|those|these) .*?|they|those|these),? (?:do they (?:all )?have|are they(?: all)?) (?:the )?same (\w+)(?: as each other)?$', r'are \1 the same \2'),
    (r'^is (their|the) (color|shape|material|size) (?:all )?the same$', r'do they have the same \2'),
    (r'^(?:is the|and the) (color|shape|material|size),? (?:is it )?the same for all of (.*)$', r'do \2 have the same \1'),
    (r'^is the (color|shape|material|size) of (them|those|these|the [^,]*?) (?:all )?the same$', r'do \2 have the same \1'),
    (r'^is everything (?:here )?(.*?),? or (?:what|not)$', r'is everything \1'), (r"^everything is (.*?),? (?:isn't it|is it)$", r'is everything \1'),
    (r"^(there(?:'s| is) .*?)(?: too)?,? isn't there$", r'\1'),
    (r'^(how many of|of) the (?:\d+|two|three|four|five|six|seven|eight|nine) (.*\bare\b)', r'\1 the \2'),
    (r'^how many of the things are ', 'how many things are '),
    (r'^of (?:all )?the (.*?),? how many are (.*)$', r'how many of the \1 are \2'),
    (r'^how many (.*) are there among the (.*)$', r'how many of the \2 are \1'),
    (r'^((?:they|those|these|the) .*?) are (.*?),? (?:right|then|correct)$', r'are \1 all \2'), (r'^(they|those|these) are (.*?),? (?:right|then|correct)$', r'are \1 \2'),
    (r'\b(those|these) (?:three|3)\b', r'\1'), (r'\ball of (those|these) (?:two|2)\b', r'\1 two'), (r'^are them ', 'are they '),
    (r'^(?:and )?((?:the|those|these) .*?|they|those|these),? are they (?:all )?(.*)$', r'are \1 all \2'),
    (r'^(what|which) shape have (.*)$', r'\1 shape do \2 have'), (r'\bdo (them|these|those)\b have$', r'do they have'),
    (r'^do do ', 'do '), (r'^do them ', 'do they '),
    (r"^(?:and |so )?(?:which(?: ones?| 1| of them)?|what (?:is|are) the (?:one|1|ones) that) (?:aren't|are not|isn't|is not)$", "which aren't so"),
    (r"^(?:and |so )?how many(?: of (?:them|those))? (?:aren't|are not)$", "how many aren't so"),
    (r'^is everything else (?:also )?(.*?)(?: too)?$', r'is everything else \1'),
    (r'^(?:are )?both (?:of (?:them|those|these) )?((?:made of |of )?\w+)$', r'are they both \1'),
    (r"^(?:anything|any)(?: here| there)? that(?:'s| is) not ", 'is there anything that is not '), (r"^(?:anything|any)(?: here| there)? that isn't ", "is there anything that isn't "),
    (r"^is there (?:any|one|1) that isn't ", "is there anything that isn't "), (r'^(how many .*?) here (are not|aren\'t) ', r'\1 \2 '), (r'^(how many (?:(?!are |have )[^,])*) not (?!counting)', r'\1 are not '),
    (r'^(?:so |and )?(?:there is )?(?:only|just)(?: the)? (?:1|one) (?!of )(.*?)(?:,? (?:right|correct))?$', r'is there only 1 \1'),
    (rf'^how many more (.*? (?:are there )?(?=(?:besides|other than|apart from|except for|except|but|aside from) ))', r'how many other \1are there '), (r'(?:are there ){2}', 'are there '),
    (rf'^(how many other (?:(?!are there).)*?),? (?=(?:besides|other than|apart from|except for|except|but|aside from) )', r'\1 are there '),
    (r'^and that of (.*)$', r'and \1'), (r'^(?:and )?((?:the(?! same)|that|this)\b.*) too$', r'is \1 too'), (r'^and is (.*) too$', r'is \1 too'), (r'^same for (.*)$', r'what about \1'),
    (r'^(what|which) (colors?|shape) ((?:they|those|these)(?: two| 2)?|the .*) have$', r'\1 \2 do \3 have'),
    (r'^(.*?),? which (color|shape)$', r'\1, what \2'),
    (r'^where exactly is ', 'where is '), (r'^and where ', 'where '),
    (r'^are (.*?) of (?:equal|identical) (color|shape|size|material)$', r'are \1 the same \2'), (r'^are (.*?) (?:equal|identical) in (color|shape|size|material)$', r'are \1 the same \2'),
    (r'^how many of the (.*) are there$', r'how many \1 are there'), (r'\bthese\b(?! two| 2| things)', 'those'), (r'^how many is ((?:made of |of )?\w+)$', r'how many things are \1'), (r'^how many of all (?:the things|these|those) are (.*)$', r'how many of the things are \1'),
]


def is_many(text):
    """Whether "have any red cubes" asks with "are there"."""
    return bool(set(text.split()) & PLURALS | {'others', 'more'} & set(text.split()[-1:])) and not re.match('(?:also )?(?:anything |anyone |something |an? )', text)


def reordered(text):
    for pattern, order in FOREIGN + ORDERS_OF_WORDS + FOREIGN[1:3]:
        text = re.sub(pattern.replace('DIRECTION', DIRECTION.replace('?P<dir>', '?:')), order, text)
    return text


def plain(question):
    """The question without "please" and remarks, in the order of words of one that is asked directly."""
    text = uncontracted(question.replace('colour', 'color').replace('centre', 'center').replace('grey', 'gray'))
    text = re.sub(r'\b(apart)(?= of the (?:picture|table))', 'part', text)
    text = re.sub(r'\bhappens? to be\b', 'are', text)
    colors = '|'.join(word for word, (attribute, _) in VALUES.items() if attribute == 'color')
    for words in (colors, '|'.join(PLURALS), 'left|right'):
        text = re.sub(rf'\b(?:{words}),? (?:sorry|i mean|wait|or rather|uh|no wait|i meant),? (?=(?:{words})\b)', '', text)
    text = re.sub(r'\bhow many (?:cubes|balls|cylinders|cones|things),? (?:sorry|i mean|wait|or rather|uh|no wait|i meant),? (?=how many )', '', text)
    text = re.sub(rf'^{BEFORE} (?=\w)', '', text)
    text = re.sub(rf'(?<=\w),? {BEHIND}$', '', text)
    text = straight(text)
    text = re.sub(r'(?:,? please|,? thanks)$', '', text)
    text = re.sub(r"^(?:good morning|ok different thing|next question|last question|ok cool|ok then|ok and|i see(?! an? | the | two | 2 )|got it|(?:very )?good|haha|ok and|oh and|ah yes,? and|last one|next(?! to )|"
                  r"next question|one more|1 more(?= [a-z]+ )|let's see|let us begin|now then|right then|lovely|ok then|and now|thank you|"
                  r"hi there|hello|ok cool|interesting|good morning|ok different thing|wow ok|great job)(?:,| (?!the picture)) ?", '', text)
    text = re.sub(rf'^(?:(?:please|excuse me|ok|hey|hi|thanks|thank you|well|alright|great|good|okay|so|now|hmm|um|oh|wow|cool|nice|mommy|mum|right(?=,| (?:how|what|which|is|are|do|does|can|could|where|any|and|tell|please) )),?|'
                  rf'{ASKING},) ', '', text)
    text = straight(uncontracted(text))
    lead = r"^(?:look at|now look at|(?:and )?what about|how about|about|as for|see|take|you see|i see|there is|there's|i think i see|i can see|i notice|and|now) (?:an?|the) "
    other = r'^(?:(?:and what about|what about|and|now|about|so) )?(?=the (?:other|remaining|last|(?:one|1) that is left))(?:the) '
    text = re.sub(r"^(?:no,? |sorry,? |ok )?(?:not (?:that|this)(?: (?:one|1))?,?|no,?(?: i (?:mean|meant|asked (?:for|about)),?)?|i (?:mean|meant|asked about)) (?:the |(?=it|that|this))(?!color|shape|size|material|its|their)(.*)$", r'what about the \1', text)
    if re.fullmatch(SURE, text):
        return 'are you sure'
    led = re.match(other + r"([^,]*), (.*?)\b(it|its|that)\b(.*)$", text) or re.match(lead + r"([^,]*), (.*?)\b(it|its|that)\b(.*)$", text) or re.match(
        r"^the ((?!.*\b(?:is|looks|must|has)\b.*,)[^,]*?),? ((?:what|which|how|is|isn't|would)\b.*?)\b(it|its|that)\b(.*)$", text) or re.match(
        lead + r"([^,]*?) ((?:what|which|how|is|isn't|would)\b.*?)\b(it|its|that)\b(.*)$", text)
    if led:
        text = f'what color is the {led[1]}' if led[3] == 'its' else f'{led[2]}the {led[1]}{led[4]}'
    text = re.sub(r'^(?:(?:look at|how about|what about|now look at|take|now|and|see) )?(the [^,]*?),? '
                  r'((?:what|which|are|how)\b.*?)\b(?:they|those)\b(.*)$', r'\2\1\3', text)
    text = re.sub(r'^((?:how many|total|number of)\b(?!.*\b(?:not|without) counting).*?),? (?:including|incl|counting|with) (?:it|that|this|(?:that|this) (?:one|1)|(?:the|that) \w+(?: \w+){0,6})$',
                  r'\1', text)
    text = re.sub(r'^(how many .*?),? (?:it|that|this|(?:that|this) (?:one|1)|(?:the|that) \w+(?: \w+){0,6}) included$', r'\1', text)
    text = re.sub(r'^((?:is|it|that|this|the)\b(?!.*\bsame \w+ like).*?) (?:also )?(\S+?)(?: too)?,? like (?:the|it) [^,]*$', r'\1 \2', text)
    text = re.sub(r' all in all$', '', text)
    text = re.sub(r'^(?:so,? )?everything(?: on the table)? is (.*?),? (?:right|correct|yes)$', r'is everything \1', text)
    text = re.sub(r'^(?:so,? )?(?:all the (.*?) are (.*?)|the (.*?) are all (.*?)),? (?:right|correct|yes)$',
                  lambda m: f'are the {m[1] or m[3]} all {m[2] or m[4]}', text)
    text = re.sub(r'^(?:so,? )?(?:(?:they|those) are all|all of (?:them|those|these) are) (.*?),? (?:right|correct)$', r'are they all \1', text)
    text = re.sub(r'^(.*?),? ((?:an? |(?:made )?of )?\w+) or not$', r'\1 \2', text)
    text = re.sub(r"^isn't (?!there)", 'is ', text)
    text = re.sub(r'^((?:the|it|that|this)\b.*) is (.*?),? (?<!the )(?<!on )(?<!to )(?:right|yes|correct)$', r'is \1 \2', text)
    if re.match('is |are ', text):
        text = re.sub(r', right$', '', text)
        text = re.sub(r'(?<! the)(?<! to)(?<! or)(?<! far)(?<!ther)(?<!thest)(?<! most)(?<! more)(?<! on)(?<! its) right$', '', text)
    text = re.sub(r"^which(?: one| 1)?'s ", 'which is ', text)
    text = re.sub(r"^which (?:ones|1s) (?=(?!are|is)[^,]* or )", 'which is ', re.sub(r'^which (?:ones|1s) (?=(?!are )[^,]*, .* or )', 'which is ', text))
    text = re.sub(r'\b((?:\w+er|fewer \w+(?: \w+)?|more \w+(?: \w+)?|more) )then\b', r'\1than', text)
    text = re.sub('^(?:between|out of) ', 'of ', text)
    text = re.sub('^(?:identify|name|tell me about|what (?:do|would) you call|which (?:thing|object|item) is(?= the )) ',
                  'describe ', text)
    text = reordered(text)
    asked = re.fullmatch(rf'{ASKING} (.*)', text)
    if asked and re.match(r'which of |which (?:one|1) is |how many of |how many are |what is (?:left of|to the|'
                          r'next|in front|behind) ', asked.group(1)):
        return reordered(asked.group(1))
    for pattern, order in ORDERS if asked else []:
        if re.fullmatch(pattern, asked.group(1)):
            return re.sub(f'^{pattern}$', order, asked.group(1))
    return reordered(asked.group(1)) if asked and not asked.group(1).startswith('the ') else text


class Unread(Exception):
    """The solver does not know these words."""


class Unclear(Exception):
    """A person would not know what is meant."""


def kind_of(text):
    """'big red cubes' -> {'size': 'large', 'color': 'red', 'shape': 'cube'}; None: no noun phrase."""
    kind, words = {}, text.split()
    behind = re.fullmatch(r"(.*?) (?:made of|of|that is|that's|that|which is) (rubber|metal)", text)
    if behind and kind_of(behind.group(1)) is not None:
        return dict(kind_of(behind.group(1)), material=behind.group(2))
    for i, word in enumerate(words):
        last = i == len(words) - 1
        if word in VALUES and (not last or VALUES[word][0] == 'shape'):
            kind[VALUES[word][0]] = VALUES[word][1]
        elif not (last and word in NOUNS):
            return None
    return kind if words else None


def value_of(text):
    """What follows "is it": 'red', 'a ball', 'made of metal', 'round', 'cubes'."""
    if text.startswith('of ') and VALUES.get(text[3:], ('material',))[0] != 'material':
        return None # "on the right side of sphere"
    text = re.sub(r'^(?:made of|of|an?) ', '', text)
    if text == 'round':
        return 'shape', 'ball'
    return VALUES.get(text)


class Scene:
    def __init__(self, data):
        self.objects = data['objects']
        self.all = frozenset(range(len(self.objects)))
        for o in self.objects:
            o['px'] = (o['box'][0] + o['box'][2]) / 2
            o['py'] = (o['box'][1] + o['box'][3]) / 2

    def fits(self, i, kind):
        return all(self.objects[i][a] == v for a, v in kind.items())

    def find(self, kind, among=None):
        return frozenset(i for i in (self.all if among is None else among) if self.fits(i, kind))

    def values(self, objects, attribute):
        return {self.objects[i][attribute] for i in objects}

    def lies(self, a, direction, b):
        """True, False, or None where two people might differ."""
        if direction in ('right', 'behind'):
            return self.lies(b, {'right': 'left', 'behind': 'front'}[direction], a)
        a, b = self.objects[a], self.objects[b]
        if direction == 'left':
            apart, most, least = b['px'] - a['px'], 12, 4
        else:
            apart, most, least = b['position'][1] - a['position'][1], 0.45, 0.2
        return True if apart > most else False if apart < least else None

    def toward(self, direction, of, certain=True):
        return frozenset(i for i in self.all - {of}
                         if self.lies(i, direction, of) or
                         (not certain and self.lies(i, direction, of) is None))

    def near(self, a, b, direction='beside'):
        """Squared distance in the picture; sideways of the direction counts double."""
        a, b = self.objects[a], self.objects[b]
        wide, high = {'beside': (1, 1), 'left': (1, 2), 'right': (1, 2)}.get(direction, (2, 1))
        return (wide * (a['px'] - b['px'])) ** 2 + (high * (a['py'] - b['py'])) ** 2

    def nearest(self, direction, of):
        """Those that may be called the nearest one in a direction."""
        there = self.all - {of} if direction == 'beside' else self.toward(direction, of, False)
        if not there:
            return frozenset()
        least = min(self.near(i, of, direction) for i in there)
        return frozenset(i for i in there if self.near(i, of, direction) <= 1.05 * least)

    def between(self, a, b):
        """Those seen in the picture between two others: both in nearly opposite directions."""
        def opposite(c):
            x, y = [(self.objects[o]['px'] - self.objects[c]['px'], self.objects[o]['py'] - self.objects[c]['py'])
                    for o in (a, b)]
            return x[0] * y[0] + x[1] * y[1] < -0.5 * math.hypot(*x) * math.hypot(*y)
        return frozenset(c for c in self.all - {a, b} if opposite(c))

    def extreme(self, direction, among):
        if not among:
            raise Unclear('there is none')
        if ' ' in direction:
            off = {i: self.off(direction, i) for i in among}
            first, *others = sorted(among, key=off.__getitem__)
            if others and off[others[0]] - off[first] < 0.1:
                raise Unclear('the corner')
            return first
        if direction == 'middle':
            return min(among, key=lambda i: sum(c * c for c in self.objects[i]['position']))
        key = {'left': lambda i: self.objects[i]['px'], 'right': lambda i: -self.objects[i]['px'],
               'front': lambda i: self.objects[i]['position'][1],
               'behind': lambda i: -self.objects[i]['position'][1]}[direction]
        return min(among, key=key)

    def off(self, corner, i):
        """How far a thing is from a corner: of the width, and of the depth that things take."""
        ys = [o['position'][1] for o in self.objects]
        side, depth = corner.split()
        across = self.objects[i]['px'] / 320
        deep = (self.objects[i]['position'][1] - min(ys)) / max(max(ys) - min(ys), 1e-9)
        return (across if side == 'left' else 1 - across) + (deep if depth == 'front' else 1 - deep)

    def ranked(self, direction, among, rank):
        for _ in range(rank):
            among = among - {self.extreme(direction, among)}
        return self.extreme(direction, among)

    def part(self, direction):
        """Those surely in the left, right, front or back part of the picture, and the doubtful ones."""
        ys = [o['position'][1] for o in self.objects]
        sure, doubtful = set(), set()
        for i, o in enumerate(self.objects):
            at = o['px'] / 320 if direction in ('left', 'right') else (
                (o['position'][1] - min(ys)) / max(max(ys) - min(ys), 1e-9))
            at = 1 - at if direction in ('right', 'behind') else at
            (sure if at < 0.4 else doubtful if at < 0.55 else set()).add(i)
        return frozenset(sure), frozenset(doubtful)

    def largest(self, among, small=False):
        """The one that looks largest, or smallest, of those that are large, or small."""
        sized = self.find({'size': 'small' if small else 'large'}, among) or among
        if not sized:
            raise Unclear('there is none')
        area = {i: (o['box'][2] - o['box'][0]) * (o['box'][3] - o['box'][1])
                for i in sized for o in [self.objects[i]]}
        return min(sized, key=lambda i: area[i] if small else -area[i])

    def beside(self, a, b):
        """Whether they are near each other: True, False, or None where people may differ."""
        if a in self.nearest('beside', b) or b in self.nearest('beside', a):
            return True
        others = self.all - {a, b}
        nearer = [sum(self.near(i, of) * 1.1 < self.near(a, b) for i in others) for of in (a, b)]
        return False if 2 * max(nearer) >= len(others) else None

    def places(self, i):
        """Where a person may say that it is."""
        x, ys = self.objects[i]['px'] / 320, [o['position'][1] for o in self.objects]
        depth = (self.objects[i]['position'][1] - min(ys)) / max(max(ys) - min(ys), 1e-9)
        side = {'left'} if x < 0.42 else {'right'} if x > 0.58 else set()
        row = {'front'} if depth < 0.3 else {'back'} if depth > 0.7 else set()
        return side | row | ({'middle'} if 0.3 < x < 0.7 else set())


def direction_of(words):
    for name in ('left', 'right', 'front', 'behind', 'back'):
        if name in words:
            return 'behind' if name == 'back' else name
    return 'beside'


class Turn:
    """What one caption, or one question with its answer, brought up."""

    def __init__(self):
        self.single = []     # each thing spoken of alone: the objects that it may be, -1: no object
        self.focus = None    # of these, what "it" goes on to be
        self.group = None    # objects spoken of together; False: several groups, or not objects
        self.count = None    # the kind that was counted
        self.exist = None    # the kind that was asked for
        self.value = None    # the attribute asked for, and by which kind the object was named
        self.verify = None   # the attribute and the value that were asked for
        self.some = None     # of "they", those that were counted
        self.pair = None     # the two things that "they" were
        self.two = None      # the two things that "those two" would be
        self.whole = None    # of what kind those counted are a part
        self.rest = None     # of several of which one was chosen the others
        self.answered = None # the one thing that the answer named
        self.same = None     # whether "the same color" was asked for
        self.spoke = None    # the objects that "they" or "them" were
        self.said = None     # the attribute and the value that the answer gave
        self.all = None      # whether all of several were asked about
        self.most = None     # the kind that there is most of
        self.choice = False  # whether the answer was one of two
        self.found = None    # several things that were found, of no kind that was named
        self.side = None     # of which thing left or right was asked for, or in front or behind
        self.not_so = None   # of all that were asked about those that are not so
        self.counted = None  # those that were counted, for "how many is that together"
        self.compared = None # the two numbers that were compared
        self.left_out = None # all of other kinds than were asked about
        self.part = None     # of which attribute a part of a group was asked for
        self.row = None      # the direction, the kind and the rank of "the leftmost thing"
        self.at = None       # the question that was asked about a part of the picture
        self.sides = None    # the thing, and the other that it was said to be left of or behind
        self.beside = False  # whether it was asked what is beside something
        self.whats = False   # whether it was asked which things are red
        self.listed = False  # whether all shapes, colors or things were listed
        self.all_value = None # what all of several were asked to be
        self.noun = None     # the shape by which a thing was named
        self.skip = False    # "are you sure": nothing new
        self.there = None    # those found in a part of the picture
        self.anchors = []    # mentions only to tell by them which other thing is meant
        self.answer = ''


class Reader:
    def __init__(self, scene):
        self.scene = scene
        self.turns = []
        self.turn = None
        self.reference = False

    # ---- what is meant -----------------------------------------------------------------------

    def it(self):
        for turn in reversed(self.turns):
            if turn.focus or turn.single:
                return self.one(self.union(turn.focus or turn.single))
        raise Unclear('it')

    @staticmethod
    def union(mentions):
        return frozenset().union(*mentions)

    @staticmethod
    def one(objects):
        if len(objects) != 1 or -1 in objects:
            raise Unclear('one of several')
        return next(iter(objects))

    def before(self):
        past = [self.union(turn.single) for turn in self.turns if turn.single]
        while len(past) > 1 and past[-2] == past[-1]:
            past.pop()
        if len(past) < 2:
            raise Unclear('before')
        self.one(past[-1])
        return self.one(past[-2])

    def that(self, kind):
        for turn in reversed(self.turns):
            fitting = [mention for mention in turn.single
                       if any(i >= 0 and self.scene.fits(i, kind) for i in mention)]
            if fitting:
                return self.one(self.union(fitting))
        raise Unclear('that')

    def they(self, latest=False, two=False):
        """latest: right after "how many of them are red" those that are."""
        self.reference = True
        last = self.turns[-1]
        if latest and last.some and not two:
            if len(last.some) < 2:
                raise Unclear('they')
            self.turn.group = self.turn.spoke = last.some
            return last.some
        if two and len(last.two or ()) == 2:
            self.turn.pair = last.two
            return last.two
        singles = [mention for mention in last.single if not any(mention is anchor for anchor in last.anchors)]
        both = last.pair or (self.union(singles) if len(singles) == 2 else frozenset())
        if len(both) == 2 and -1 not in both and (two or last.pair or not any(
                turn.group for turn in self.turns) or last.beside):
            self.turn.pair = both
            return both
        if last.found and not last.group and (not two or len(last.found) == 2):
            self.turn.found = last.found
            self.turn.two = last.found if len(last.found) == 2 else None
            self.turn.group = False
            return last.found
        for turn in reversed(self.turns):
            if turn.group is False:
                break
            if turn.group is not None:
                self.turn.spoke = turn.group
                return turn.group
        named = self.union(mention for turn in self.turns for mention in turn.single)
        if any(turn.group is not None for turn in self.turns) or -1 in named or len(named) > 1:
            raise Unclear('they')
        self.turn.spoke = self.scene.all
        return self.scene.all

    def second(self, text, first):
        """The other of two: "the matte one", where the first is "the shiny orange cube"."""
        kind, like = (kind_of(re.sub('^the ', '', t)) for t in (text, first))
        if kind and like and 'shape' not in kind and 'shape' in like and len(self.scene.find(kind)) > 1 and (
                self.of_group(kind) is None):
            found = self.one(self.scene.find(dict(like, **kind)))
            self.mention({found})
            return found
        return self.thing(text)

    def the_other(self, kind):
        """Of two, not the one last spoken of."""
        last = self.turns[-1]
        if last.choice and not kind and last.answered is not None:
            return self.one(self.union(last.single) - {last.answered})
        two = self.scene.find(kind) if kind else self.they()
        try:
            one = self.that(kind) if kind else self.it()
        except Unclear:
            one = self.turns[-1].answered
            if one is None and self.turns[-1].focus:
                one = self.it()
        if one not in two:
            raise Unclear('the other')
        return self.one(two - {one})

    def those_or_all(self):
        """Those spoken of in a round, else all things."""
        last = self.turns[-1]
        for turn in reversed(self.turns[1:]):
            if turn.group is False and not (last.found and not last.group) or turn.pair:
                break
            if turn.group or (turn is last and turn.spoke) or last.found:
                return self.they()
        self.turn.spoke = self.turn.group = self.scene.all
        return self.scene.all

    def remaining(self):
        """"the others": of "they", those that were not counted in the round before."""
        self.reference = True
        if self.turns[-1].rest:
            self.turn.found = self.turn.two = self.turns[-1].rest
            return self.turns[-1].rest
        group, some = self.turns[-1].spoke or self.turns[-1].group, self.turns[-1].some
        if self.turns[-1].count is not None and some is None:
            some = self.scene.find(self.turns[-1].count) if self.turns[-1].count else self.turns[-1].counted
            group = self.turns[-1].whole or self.scene.all
        if not group or some is None:
            raise Unclear('the others')
        self.turn.found = self.turn.two = frozenset(group) - some
        self.turn.spoke = group
        return frozenset(group) - some

    def others_alike(self, number):
        """"the other two": of its shape, those beside the thing just spoken of."""
        one = self.it()
        found = self.scene.find({'shape': self.scene.objects[one]['shape']}) - {one}
        if len(found) != int(NUMBERS.get(number, number)):
            raise Unclear('the others')
        self.turn.group, self.turn.two = False, found
        return found

    def thing(self, text):
        """The object that a noun phrase names, noted as spoken of."""
        found = self.find_thing(text.strip())
        nouns = [VALUES[w] for w in text.split() if VALUES.get(w, ('',))[0] == 'shape']
        if self.turn.noun is None and nouns:
            self.turn.noun = dict(nouns[:1])
        self.mention({found})
        return found

    def anchor(self, text):
        """The same, of what another thing is behind, or like: not one of "those two"."""
        found = self.thing(text)
        self.turn.anchors.append(self.turn.single[-1])
        return found

    def subject(self, text):
        """The same; "is it left of the ball" goes on to be about it."""
        found = self.thing(text)
        if text in IT:
            self.turn.focus = [frozenset({found})]
        return found

    def mention(self, objects):
        self.turn.single.append(frozenset(objects))

    def of_group(self, kind, direction=None, side=False):
        """"the red one", "the one on the left", of those just spoken of; None: of nothing special."""
        last = self.turns[-1]
        pair = last.two or last.pair or self.union(last.single)
        group = pair if side and len(pair) == 2 else last.group or last.spoke
        if not group or -1 in group:
            return None
        found = self.scene.find(kind, group)
        if direction is None and len(found) != 1:
            return None
        self.reference = True
        self.turn.spoke = group
        return self.scene.extreme(direction, found) if direction else next(iter(found))

    def find_thing(self, text):
        text = self.alike if text == 'the alike' else text
        text = re.sub(rf"\b(?:that is|that's|which is) (?=(?:just |right |directly )?(?:{SIDE})\b)", '', text)
        text = re.sub('^(?:the )?(left|right)$', r'the \1 one', text)
        alike = ALIKE.fullmatch(text)
        if alike and kind_of(alike['kind']) is not None:
            like, attribute = self.anchor(alike['of']), ATTRIBUTES[alike['a']]
            return self.one(self.scene.find(dict(kind_of(alike['kind']), **{attribute: self.scene.objects[like][attribute]})) - {like})
        if text in THAT and self.turns[-1].answered is not None and not ('other' in text and (
                self.turns[-1].choice or self.turns[-1].some is not None)):
            self.reference = True
            return self.turns[-1].answered
        if text in IT:
            self.reference = True
            try:
                return self.it()
            except Unclear:
                if self.turns[-1].answered is None:
                    raise
                return self.turns[-1].answered
        if re.fullmatch(r'(?:the )?(?:other|remaining|last) (?:one|1)|the (?:one|1) that is left', text) and (
                self.turns[-1].some is not None or self.turns[-1].count or self.turns[-1].rest):
            return self.one(self.remaining())
        first = [mention for turn in self.turns[1:] for mention in turn.single]
        if re.fullmatch('the first (?:one|1|thing)', text) and first:
            self.reference = True
            return self.one(first[0])
        if re.fullmatch(r'the (?:one|1) before(?: that)?|the previous (?:one|1)', text):
            self.reference = True
            return self.before()
        said = re.fullmatch(r'(?:that|this|(?:the )?same) (.*)|(?:the )?(.*?) (?:(?:you|we) mentioned|'
                            r'from before|we talked about)', text)
        if said and kind_of(said.group(1) or said.group(2)) is not None:
            self.reference = True
            return self.that(kind_of(said.group(1) or said.group(2)))
        for direction, one, at in EXTREMES:
            most = re.fullmatch(rf'(?:the )?(?:{one}) (.*)|(?:the )?(.*?) (?:{at})', text)
            kind = most and kind_of(most.group(1) or most.group(2))
            if kind is not None:
                side = re.fullmatch(r'(?:the )?(?:left|right|front|back) (?:one|1)|(?:the )?(?:one|1) (?:on the (?:left|right)|'
                                    r'in (?:the )?(?:front|back))', text)
                found = self.of_group(kind, direction, side) if kind == {} and ONE.search(text) else None
                if found is not None:
                    return found
                among = self.scene.find(kind)
                if kind == {} and ONE.search(text) and self.turns[-1].row and not self.turns[-1].count:
                    among = self.turns[-1].row[1]
                self.turn.row = direction, among, 0
                return self.scene.extreme(direction, among)
        ranked = re.fullmatch(r'(?:the )?(first|1st|second|2nd|third|3rd) (.*) from (?:the )?(left|right|front|back)', text)
        if ranked and kind_of(ranked.group(2)) is not None:
            among, direction = self.scene.find(kind_of(ranked.group(2))), direction_of(ranked.group(3))
            rank = 0 if ranked.group(1)[0] in 'f1' else 1 if ranked.group(1)[0] in 's2' else 2
            self.turn.row = direction, among, rank
            return self.scene.ranked(direction, among, rank)
        third = re.fullmatch(r'(?:the )?(?:third|3rd) (.*)', text)
        if third and kind_of(third.group(1)) is not None:
            self.reference = True
            three = self.scene.find(kind_of(third.group(1)))
            told = {i for turn in self.turns for mention in turn.single if len(mention) == 1 for i in mention}
            if len(three) != 3:
                raise Unclear(text)
            return self.one(three - told)
        other = re.fullmatch(r'(?:the )?other (.*)', text)
        if other and kind_of(other.group(1)) is not None:
            self.reference = True
            return self.the_other(kind_of(other.group(1)))
        sized = re.fullmatch(r'(?:the )?(biggest|largest|bigger|larger|tallest|smallest|smaller|littlest|shortest) (.*)',
                             text)
        kind = sized and kind_of(sized.group(2))
        if kind is not None:
            small = sized.group(1)[0] in 'sl' and sized.group(1)[:3] != 'lar'
            found = self.scene.find(dict(kind, size='small' if small else 'large'))
            if len(found) != 1:
                found = frozenset({self.scene.largest(self.scene.find(kind), small)})
            return self.one(found)
        beside = re.fullmatch(rf'(?:the )?(?P<noun>\w+(?: \w+)??) (?:just |right |directly )?{DIRECTION} (?P<of>(?!.* or ).*)', text)
        kind = beside and kind_of(beside.group('noun'))
        if kind is not None and len(kind) < 2:
            of, direction = self.anchor(beside.group('of')), direction_of(beside.group('dir'))
            found = self.scene.find(kind, self.scene.nearest(direction, of))
            if not found and kind and direction != 'beside':
                found = self.scene.find(kind, self.scene.toward(direction, of))
            return self.one(found)
        without = re.fullmatch(r"(?:the )?(?:only )?(.*?) (?:that|which)(?: isn't| is not|'s not| not) (.*)", text)
        if without and value_of(without.group(2)) and kind_of(without.group(1)) is not None:
            such = self.scene.find(kind_of(without.group(1)))
            return self.one(such - self.scene.find(dict([value_of(without.group(2))]), such))
        named = re.fullmatch(r'(?:the )?(?:only )?(.*)', text)
        kind = named and kind_of(named.group(1))
        if kind is None or not self.scene.find(kind):
            raise Unread(text)
        found = self.of_group(kind) if len(self.scene.find(kind)) > 1 else None
        if found is not None:
            return found
        noun = self.turns[-1].noun
        if len(self.scene.find(kind)) > 1 and noun and ONE.search(text) and len(self.scene.find(dict(noun, **kind))) == 1:
            return self.one(self.scene.find(dict(noun, **kind)))
        return self.one(self.scene.find(kind))

    def group(self, text, latest=True):
        if text in ('they', 'those', 'them', 'these'):
            return self.they(latest)
        if re.fullmatch('(?:those|these) (?:two|2)|the (?:two|2)(?: of them)?', text):
            return self.they(two=True)
        rest = re.fullmatch('(?:the )?(?:others|(?:other|remaining) (two|2|three|3|ones)|rest(?: of them)?)', text)
        last = self.turns[-1]
        if rest and last.some is None and not last.count and not last.rest and rest.group(1) not in (None, 'ones'):
            self.reference = True
            return self.others_alike(rest.group(1))
        if rest:
            return self.remaining()
        besides = re.fullmatch('(?:the )?(?:other|remaining) (?:(?:two|2|three|3) )?(.*)', text)
        besides = besides and kind_of(besides.group(1)) is not None and text.split()[-1] in PLURALS and besides
        whole = last.whole or (last.some is not None and (last.spoke or last.group))
        if besides and not whole and last.count and not kind_of(besides.group(1)):
            return self.remaining()
        if besides and whole and whole == self.scene.find(kind_of(besides.group(1))):
            return self.remaining()
        if besides:
            self.reference = True
            found = self.scene.find(kind_of(besides.group(1)))
            one = self.it()
            if one not in found:
                raise Unclear('the others')
            self.turn.group, self.turn.two = False, found - {one}
            return found - {one}
        number = re.match('(?:the )?(two|2|three|3) ', text)
        kind = kind_of(re.sub('^(?:the )?(?:(?:two|2|three|3) )?', '', text))
        if kind is None:
            raise Unread(text)
        self.turn.group = self.scene.find(kind)
        if number and len(self.turn.group) != int(NUMBERS.get(number.group(1), number.group(1))):
            raise Unclear(text)
        return self.turn.group

    # ---- questions: each gives the judge of an answer -----------------------------------------

    def read(self, question):
        alike = ALIKE.search(question)
        self.alike = alike and not re.fullmatch('(?:is|are) ' + re.escape(alike[0]), question) and not re.search(
            r'\b(?:an?|any|another) $', question[:alike.start()]) and alike[0]
        if self.alike:
            question = question.replace(self.alike, 'the alike')
        for pattern, make in QUESTIONS:
            match = pattern.fullmatch(question)
            if match:
                try:
                    return make(self, **match.groupdict())
                except Unread:
                    self.turn.single.clear()
        raise Unread(question)

    def bring_up(self, found, answer, plural, counted=False):
        """A kind was asked for, and these were found."""
        words = describe(answer)
        if words and len(self.scene.find(words, found)) == 1:
            self.mention(self.scene.find(words, found))
        elif len(found) == 1:
            self.mention(found)
        elif (found and not plural and not counted):
            self.mention(found | {-1})
        if plural or (number_in(answer) or 0) > 1:
            self.turn.group = found if len(found) > 1 else False if found else self.turn.group


def number_in(answer):
    if re.fullmatch(r"none|there are none|i don't see any", answer):
        return 0
    digits = re.search(r'\d+', answer)
    return int(digits.group()) if digits else None


def describe(answer):
    """The kind that an answer names: 'yes, a red one', 'no, it's big', 'the ball'."""
    text = re.sub(r"^(?:yes|no), ", '', answer)
    text = re.sub(r"^(?:it's|they're all|more) ", '', text)
    text = re.sub(r'^(?:an?|the) ', '', text)
    text = {'shiny metal': 'metal', 'matte rubber': 'rubber'}.get(text, text)
    kind = kind_of(text)
    return kind or (dict([VALUES[text]]) if text in VALUES else None)


def polarity(answer):
    if re.match(r'(?:yes|yep|yeah|all of them)\b', answer):
        return True
    if re.match(r'(?:no|nope|not that i can see)(?:,|$)', answer):
        return False
    return None


def yes_or_no(truth, more=None):
    """more: judges what an answer says besides yes or no."""
    def judge(answer):
        if polarity(answer) is not truth:
            return truth is None and polarity(answer) is not None
        if re.fullmatch(r"yes|yep|yeah|no|nope|yes, there (?:is|are)|no, there (?:is|are)n't|"
                        r"no, i don't see any|not that i can see|yes, (?:it is|they are)|"
                        r"no, (?:it isn't|it's not|they aren't|they're not)", answer):
            return True
        return bool(more and more(answer))
    return judge


def exists(reader, found, plural, doubtful=False):
    def more(answer):
        words, number = describe(answer), number_in(answer)
        if answer == 'no, none of them':
            return True
        if number is not None:
            return number == len(found)
        return bool(words and reader.scene.find(words, found) == found)

    if plural:
        note_found(reader, found)

    def judge(answer):
        reader.bring_up(found, answer, plural)
        return yes_or_no(None if doubtful else bool(found), more)(answer)
    return judge


def counted(reader, found, plural=True):
    note_found(reader, found)
    reader.turn.counted = found

    def judge(answer):
        reader.bring_up(found, answer, plural, True)
        return number_in(answer) == len(found)
    return judge


def note_found(reader, found):
    """For "they", or "it", in the next question."""
    reader.turn.found = found if len(found) > 1 else None
    answered(reader, found)


def count(reader, kind, value=None, here=None):
    kind, also = kind_of(kind), value and value_of(value)
    if kind is None or (value and not also):
        raise Unread(value or 'kind')
    if also:
        reader.turn.whole = reader.scene.find(kind) if kind else None
        kind = dict(kind, **dict([also]))
        reader.turn.part = also[0]
    reader.turn.count = kind
    return counted(reader, reader.scene.find(kind))


def count_said(reader, group='them', value=None, **_):
    if value is None:  # "how many": of what was asked for just before
        reader.reference = True
        last = reader.turns[-1]
        if last.exist is not None or last.most is not None:
            reader.turn.count = last.most or last.exist
            return counted(reader, reader.scene.find(reader.turn.count))
        if not last.all or polarity(last.answer) is False or re.search('different| and ', last.answer):
            raise Unclear('how many of what')
        reader.turn.count = {}
        return counted(reader, reader.they(), False)
    also = value_of(value)
    if not also:
        raise Unread(value)
    found = reader.they() if group else reader.those_or_all()
    reader.turn.some, reader.turn.part = reader.scene.find(dict([also]), found), also[0]
    return counted(reader, reader.turn.some, False)


def said_number(reader, number, value, group='them'):
    """"2 of them are red, right"."""
    found, also = reader.they(), value_of(value)
    if not also:
        raise Unread(value)
    some = reader.scene.find(dict([also]), found)
    reader.turn.part = also[0]
    if int(NUMBERS.get(number, 1 if number == 'one' else number)) == len(some):
        reader.turn.some = some
        if len(some) == 1:
            reader.mention(some)
    return yes_or_no(reader.turn.some is not None)


def which_three(reader, says, one, two, three):
    if re.match('(?:left|right|in front|behind) of|behind ', three): # "smallest cylinder left or right of the ball"
        raise Unread(three)
    among = frozenset(reader.thing(text) for text in (one, two, three))
    says = re.sub('^the ', '', says)
    if re.fullmatch('biggest|largest|smallest', says):
        right = reader.scene.find({'size': 'small' if says[0] == 's' else 'large'}, among)
        answered(reader, right, True)
        return chosen(reader, right, among, ['size'])
    for direction, a, b in EXTREMES:
        if re.fullmatch(f'{a}|{b}', says):
            right = frozenset({reader.scene.extreme(direction, among)})
            answered(reader, right, True)
            return chosen(reader, right, among, ())
    raise Unread(says)


def count_among(reader, group, kind):
    if kind_of(kind) is None:
        raise Unread(kind)
    reader.turn.some = reader.scene.find(kind_of(kind), reader.group(group, False))
    reader.turn.part = ([*kind_of(kind)] + [None])[0]
    return counted(reader, reader.turn.some, False)


def any_among(reader, kind, group):
    found = reader.group(group, False)
    if kind_of(kind) is None:
        raise Unread(kind)
    group, some = reader.turn.group, reader.scene.find(kind_of(kind), found)

    def judge(answer):
        right = exists(reader, some, True)(answer)
        reader.turn.group, reader.turn.found, reader.turn.answered = group, None, None
        return right
    return judge


def count_again(reader, kind):
    if reader.turns[-1].count is None or kind_of(kind) is None:
        raise Unread('and')
    reader.reference = True
    return count(reader, kind)


def count_all(reader):
    if any(turn.count is not None or turn.exist is not None for turn in reader.turns):
        raise Unclear('of what?')
    return count(reader, 'things')


def count_distinct(reader, what):
    attribute = 'color' if 'colo' in what else 'shape'
    reader.turn.group = False
    return lambda answer: number_in(answer) == len(reader.scene.values(reader.scene.all, attribute))


def count_others(reader):
    others = reader.scene.all - reader.they()
    reader.turn.group = False
    return counted(reader, others, False)


def exist(reader, kind):
    wanted = kind_of(kind)
    if wanted is None:
        raise Unread(kind)
    reader.turn.exist = wanted
    found = reader.scene.find(wanted)
    try:
        reader.turn.two = found | {reader.it()} if len(found) == 1 else None
    except Unclear:
        pass
    return exists(reader, found, kind.split()[-1] in PLURALS)


def opening(reader, kind, that=None):
    """"green cone", "is that a cube", where nothing was spoken of before but in the caption."""
    if len(reader.turns) > 1 or kind.split()[-1] in PLURALS or kind_of(kind) is None:
        raise Unread(kind)
    try:
        asked = that and reader.it()
    except Unclear:
        asked = None
    if asked is not None:
        raise Unread('of it')
    return exist(reader, kind)


def exist_value(reader, value):
    if not value_of(value):
        raise Unread(value)
    reader.turn.exist = dict([value_of(value)])
    return exists(reader, reader.scene.find(reader.turn.exist), False)


def exist_again(reader, kind):
    reader.reference = True
    if reader.turns[-1].exist is None:
        raise Unclear('what about')
    return exist(reader, kind)


def any_of(reader, group, value):
    found, also = reader.group(group, False), value_of(value)
    if not also:
        raise Unread(value)
    group, found = reader.turn.group, reader.scene.find(dict([also]), found)

    def judge(answer):
        right = exists(reader, found, True)(answer)
        reader.turn.group, reader.turn.found, reader.turn.answered = group, None, None
        return right
    return judge


def number(reader, kind, how, number=None):
    found = reader.scene.find(kind_of(kind) or {}) if kind_of(kind) is not None else None
    if found is None:
        raise Unread(kind)
    n = len(found)
    if how == 'several' and n == 2:
        raise Unclear('several')
    truth = n == int(number) if number else n == 1
    if how and (how.startswith('more than') or how in ('multiple', 'several', 'at least 2')):
        truth = n > 1
    reader.bring_up(found, 'yes', True)
    reader.turn.count = kind_of(kind)
    reader.turn.counted = found
    return yes_or_no(truth)


def all_are(reader, group, value):
    objects, said = reader.group(group), value_of(value)
    if not said:
        raise Unread(value)
    reader.turn.all, reader.turn.all_value, reader.turn.part = True, value, said[0]
    some = reader.scene.find(dict([said]), objects)
    reader.turn.not_so = objects - some

    def more(answer):
        return {'yes, all of them': True, 'all of them': True, 'no, not all of them': True,
                'no, only some of them': bool(some), 'no, none of them': not some}.get(answer)
    return yes_or_no(some == objects, more)


def so_many(reader, group, value, how):
    """"all but one of them are red", "none of them are red", "neither of them is red"."""
    objects, said = reader.group(group), value_of(value)
    if not said:
        raise Unread(value)
    if len(objects) < 3 if how == 'all but' else (len(objects) == 2) != (how == 'neither'):
        raise Unclear(how)
    reader.turn.all = True
    reader.turn.not_so = objects - reader.scene.find(dict([said]), objects)
    return yes_or_no(len(reader.turn.not_so) == (1 if how == 'all but' else len(objects)))


def count_not(reader, group='them', value=None):
    said = value_of(value)
    if not said:
        raise Unread(value)
    last = reader.turns[-1]
    some = last.some if last.some is not None else reader.scene.find(last.count) if last.count else frozenset()
    if not group and some and reader.scene.find(dict([said]), some) == some:  # "6 are red | how many aren't red"
        reader.turn.group = False
        return counted(reader, reader.remaining() - reader.scene.find(dict([said])), False)
    found = reader.group(group, False) if group else reader.those_or_all()
    others = found - reader.scene.find(dict([said]), found)
    reader.turn.group = False
    return counted(reader, others, False)


def same(reader, group='they', attribute=None):
    found = reader.group(group or 'they')
    reader.turn.same = reader.turn.all = True
    return yes_or_no(len(reader.scene.values(found, attribute)) == 1,
                     lambda answer: answer == f'no, different {attribute}s')


def tally(reader, objects, attribute):
    """How many of the objects have each value, the fewest first."""
    values = [reader.scene.objects[i][attribute] for i in objects]
    return sorted((values.count(v), v) for v in set(values))


def most(reader, attribute, group=None, least=None):
    objects = reader.group(group) if group else reader.scene.all
    if group not in ('them', 'those', 'these'):
        reader.turn.group = False
    else:
        reader.turn.spoke = objects
    numbers = tally(reader, objects, attribute)
    if not least:
        numbers.reverse()
    if len(numbers) > 1 and numbers[0][0] == numbers[1][0]:
        raise Unclear('two are as common')
    if objects == reader.scene.all:
        reader.turn.most = {attribute: numbers[0][1]}
        reader.turn.said = attribute, numbers[0][1]
    return lambda answer: describe(answer) == {attribute: numbers[0][1]} and (
        not answer.startswith("they're") or len(numbers) == 1)


def mostly(reader, group, value):
    objects, said = reader.group(group), value_of(value)
    if not said:
        raise Unread(value)
    if group not in ('them', 'those', 'these'):
        reader.turn.group = False
    number = len(reader.scene.find(dict([said]), objects))
    numbers = tally(reader, objects, said[0])
    alone = len(numbers) == 1 or numbers[-1][0] > numbers[-2][0]
    if 2 * number == len(objects) or (2 * number < len(objects) and alone and
                                      numbers[-1][1] == said[1]):
        raise Unclear('most')
    return yes_or_no(2 * number > len(objects))


PLACES = {'on the left': 'left', 'on the right': 'right', 'left': 'left', 'to the left': 'left', 'right': 'right',
          'to the right': 'right', 'in the front': 'front', 'in the back': 'behind'}


def chosen(reader, right, among, given):
    """given: the attributes that only repeat the question."""
    if len(among) > 2 and len(right) == 1:
        reader.turn.rest = frozenset(among) - right
    def judge(answer):
        if answer in PLACES:
            return right == {reader.scene.extreme(PLACES[answer], among)}
        if answer in ('both', 'both of them'):
            return len(among) == 2 and right == among
        if answer in ('neither', 'neither of them', 'none of them'):
            return not right and (len(among) == 2 or not answer.startswith('neither'))
        words = describe(answer)
        return bool(words) and len(right) == 1 and not set(words) <= set(given) and (
            reader.scene.find(words, among) == right)
    return judge


def answered(reader, right, choice=False):
    """What the answer names, for "it" in the next question."""
    reader.turn.choice = choice
    reader.turn.answered = next(iter(right)) if len(right) == 1 else None


def which_two(reader, thing, other, value):
    said = value_of(value)
    if not said:
        raise Unread(value)
    among = frozenset({reader.thing(thing), reader.second(other, thing)})
    if len(among) < 2:
        raise Unread(value)
    answered(reader, reader.scene.find(dict([said]), among), True)
    return chosen(reader, reader.scene.find(dict([said]), among), among, said[:1])


def which_place(reader, thing, other, place):
    ends = [re.sub('^the ', '', end) for end in (thing, other)]
    if set(ends) == {'left', 'right'}:  # of the two just spoken of
        reader.reference = True
        one, two = (reader.scene.extreme(end, reader.they(two=True)) for end in ends)
    else:
        one, two = reader.thing(thing), reader.second(other, thing)
    side = direction_of(place)
    if side == 'beside':
        side = 'front' if re.search('close|near|forward', place) else 'behind'
    if 'from the camera' in place:
        side = 'behind'
    lies = reader.scene.lies(one, side, two)
    if lies is None:  # some would say so
        return lambda answer: any(chosen(reader, frozenset({i}), frozenset({one, two}), ())(answer)
                                  for i in (one, two))
    answered(reader, frozenset({one if lies else two}), True)
    return chosen(reader, frozenset({one if lies else two}), frozenset({one, two}), ())


def what_are(reader, value=None, kind=None, more=None):
    """"what is red", "what else is red": several things, one or none."""
    said = value_of(value) if value else None
    wanted = dict([said]) if said else kind_of(kind or '')
    if not wanted or 'shape' in wanted:
        raise Unread(value or kind)
    found = reader.scene.find(wanted)
    reader.turn.value, reader.turn.whats = ('shape', None), True
    if more:
        reader.reference = True
        one = reader.it()
        if one not in found:
            raise Unclear('else')
        found = found - {one}
        if found:
            reader.mention(found | {-1})
        reader.turn.group = False
    elif len(found) == 1:
        reader.mention(found)
    elif found:
        reader.turn.group, reader.turn.all = found, True
    return things(reader, found)


def things(reader, found):
    """What these are."""
    shapes = reader.scene.values(found, 'shape')
    reader.turn.listed = found == reader.scene.all
    if len(found) > 1 and len(shapes) == 1:
        reader.turn.said = 'shape', next(iter(shapes))

    def judge(answer):
        if len(found) < 2:
            return bool(described(reader, found)(answer)) if found else answer in ('nothing', "there's nothing there")
        if answer == 'different shapes':
            return len(shapes) > 1
        said = [describe(part) for part in re.split(', | and ', answer)]
        return None not in said and {kind.get('shape') for kind in said} == shapes and not answer.startswith('more ')
    return judge


def not_so(reader, how_many=None):
    """"are they all red | no | which ones aren't"."""
    found = reader.turns[-1].not_so
    reader.reference = True
    if not found and how_many:
        return counted(reader, reader.remaining(), False)
    if not found:
        return shared(reader, 'the others', 'shape')
    reader.turn.group = False
    if len(found) > 1 or how_many:
        note_found(reader, found)
    else:
        reader.mention(found)
    return counted(reader, found, False) if how_many else things(reader, found)


def what_besides(reader, kind):
    wanted = kind_of(kind)
    if not wanted or len(wanted) != 1:
        raise Unread(kind)
    found = reader.scene.all - reader.scene.find(wanted)
    return left_over(reader, found)


def left_over(reader, found):
    reader.turn.group = False
    if len(found) > 1:
        reader.turn.found = found
    else:
        reader.mention(found)
    return things(reader, found)


def that_color(reader):
    """"what else is that color", as what the answer named, or as it."""
    reader.reference = True
    one = reader.turns[-1].answered
    if one is None:
        one = reader.it()
    return left_over(reader, reader.scene.find({'color': reader.scene.objects[one]['color']}) - {one})


def which_ones(reader, one=None):
    """Those that were counted just before."""
    reader.reference = True
    last = reader.turns[-1]
    found = last.some if last.some is not None else (
        reader.scene.find(last.count) if last.count is not None else None)
    if not found or (len(found) == 1) != bool(one):
        raise Unread('which ones')
    if one:
        reader.mention(found)
    else:
        reader.turn.group = reader.turn.spoke = found
    return things(reader, found)


def one_differs(reader, group, how):
    objects = reader.group(group)
    if group not in ('them', 'those', 'these'):
        reader.turn.group = False
    if len(objects) < 3:
        raise Unclear('of two')
    number = len(reader.scene.find({'size': 'small' if how in SMALLER else 'large'}, objects))
    if number == 1:
        reader.mention({-1})
    return yes_or_no(number == 1)


def occurs(reader, attribute, times=None, number=None, group=None):
    objects = reader.group(group) if group else reader.scene.all
    if group not in ('them', 'those', 'these'):
        reader.turn.group = False
    else:
        reader.turn.spoke = objects
    wanted = 1 if 'once' in (times or '') or 'only' in (number or '') else 2
    found = [value for count, value in tally(reader, objects, attribute) if count == wanted]
    if len(found) != 1:
        raise Unclear('occurs')
    if objects == reader.scene.all:
        reader.turn.most = {attribute: found[0]}
        reader.turn.said = attribute, found[0]
    return lambda answer: describe(answer) == {attribute: found[0]} and not answer.startswith("they're")


def between_two(reader, group, what=None):
    two = reader.group(re.sub('^the (?:two|2) (?!of)', 'the ', group))
    reader.turn.group = None
    if len(two) != 2:
        raise Unclear('between')
    reader.mention({-1})
    return found_between(reader, two, what)


def which_such(reader, kind, says):
    """"which ball is shiny"."""
    if not kind_of(kind) or 'shape' not in kind_of(kind) and kind.split()[-1] in ('one', '1'):
        raise Unread(kind)
    return which_of(reader, says, f'the {kind}')


def neither_is(reader, one, other):
    said = value_of(one), value_of(other)
    if None in said or said[0][0] != said[1][0]:
        raise Unread(one)
    found = reader.scene.all - reader.scene.find(dict(said[:1])) - reader.scene.find(dict(said[1:]))
    reader.mention(found)
    return described(reader, [reader.one(found)])


def with_base(kinds, other):
    """"more small cylinders than big ones": big cylinders."""
    if other.endswith(' ones') and 'shape' in kinds[0]:
        return kinds[0], dict(kinds[1], shape=kinds[0]['shape'])
    return kinds


def which_of(reader, says, group=None):
    try:
        among = reader.group(group or 'them')
    except Unclear:
        if group or reader.turns[-1].some:
            raise
        among, reader.reference = reader.scene.all, False
        reader.turn.value = 'shape', None
    said = re.fullmatch(r"is(?P<no>n't| not)? (?:the )?(?P<value>.*?)(?: (?:one|1))?", says)
    value, given = value_of(said.group('value')), ()
    if value:
        right, given = reader.scene.find(dict([value]), among), value[:1]
        right = among - right if said.group('no') else right
    elif re.fullmatch('biggest|largest|tallest|smallest|shortest|bigger|larger|smaller', said.group('value')):
        size = 'small' if said.group('value')[0] == 's' else 'large'
        right, given = reader.scene.find({'size': size}, among), ['size']
        if len(right) > 1:
            right = frozenset({reader.scene.largest(among, size == 'small')})
    else:
        nearer = (('left', r'(?:further|farther|more) (?:to )?(?:the )?left'), ('right', r'(?:further|farther|more) (?:to )?(?:the )?right'),
                  ('front', r'(?:closer|nearer|more near)(?: to (?:us|me|the camera))?'),
                  ('behind', r'(?:further|farther)(?: away| back)?|behind'))
        for direction, one, at in EXTREMES + [(d, '(?!)', at) for d, at in nearer]:
            if re.fullmatch(f'{one}|{at}', said.group('value')):
                right = frozenset({reader.scene.extreme(direction, among)})
                reader.turn.row = direction, among, 0
                break
        else:
            raise Unread(says)
    if len(right) > 1:
        raise Unclear('which of several')
    if right:
        reader.mention(right)
    if group and re.search('(?:two|2)$', group):
        reader.turn.two = among
    elif group not in ('them', 'those', 'these', None):
        reader.turn.group = False
    return chosen(reader, right, among, given)


def another_one(reader, only=None, how_many=None, kind=None):
    """After "is there a cube": "yes"."""
    reader.reference = True
    wanted = reader.turns[-1].exist
    if wanted is None or (kind and kind_of(kind) != wanted):
        raise Unread('another')
    found = reader.scene.find(wanted)
    others = len(found) - 1
    if others < 0:
        raise Unclear('another')
    reader.mention(found | {-1} if others else found)
    reader.turn.group, reader.turn.two = False, found
    if how_many:
        return lambda answer: number_in(answer) == others
    if only:
        return yes_or_no(others == 0)
    return further(reader, others, found)


def further(reader, others, found):
    if len(found) == others:
        note_found(reader, found)

    def more(answer):
        words = describe(answer)
        if answer in ("no, that's all", "no, that's the only one"):
            return True
        if answer.endswith(' more'):
            return number_in(answer) == others
        return bool(words and reader.scene.find(words, found) == found)
    return yes_or_no(others > 0, more)


def of_kind(make):
    """"the red one" of two things of a kind."""
    def question(reader, kind, thing, other, **found):
        wanted = kind_of(kind)
        if not wanted:
            raise Unread(kind)
        both = []
        for text in (thing, other):
            named = kind_of(re.sub('^the ', '', text))
            if named is None:
                raise Unread(text)
            both.append('the ' + ' '.join(dict(named, **wanted)[a] for a in
                                          ('size', 'color', 'material', 'shape')
                                          if a in dict(named, **wanted)))
        return make(reader, thing=both[0], other=both[1], **found)
    return question


def else_value(reader, value):
    if not value_of(value):
        raise Unread(value)
    return another(reader, f'{value_of(value)[1]} thing')


def besides(reader, kind, thing, how_many=None):
    wanted, one = kind_of(kind), reader.thing(thing)
    if wanted is None or not reader.scene.fits(one, wanted):
        raise Unread(kind)
    others = reader.scene.find(wanted) - {one}
    if others:
        reader.mention(others | {-1})
    reader.turn.group, reader.turn.two = False, others | {one}
    if how_many:
        return counted(reader, others, False)
    reader.turn.answered = next(iter(others)) if len(others) == 1 else None
    return further(reader, len(others), others)


def besides_those(reader, kind, those, how_many=None):
    """Other than those last spoken of, a group or two things one by one."""
    wanted = kind_of(kind)
    if wanted is None:
        raise Unread(kind)
    last = reader.turns[-1]
    if last.group or last.spoke:
        group = reader.they()
    else:
        group, reader.reference = set(), True
        for turn in reversed(reader.turns):
            for mention in reversed(turn.single):
                if len(group) < 2:
                    group |= mention
    if len(group) < 2 or (len(group) != 2 and 'two' in those) or not all(
            i >= 0 and reader.scene.fits(i, wanted) for i in group):
        raise Unclear(those)
    others = reader.scene.find(wanted) - group
    reader.mention(others | {-1})
    reader.turn.group = False
    return counted(reader, others, False) if how_many else further(reader, len(others), others)


def any_other(reader, what=False):
    """Besides all that was named alone, where nothing else was spoken of."""
    if reader.turns[-1].listed:
        reader.reference = True
        return yes_or_no(False, lambda answer: answer in ("no, that's all",))
    named = frozenset().union(*(mention for turn in reader.turns for mention in turn.single))
    if -1 in named or not named or any(turn.group or (turn.group is False and not turn.single) for turn in reader.turns):
        raise Unclear('other than which')
    reader.reference = True
    others = reader.scene.all - named
    reader.turn.group = False
    if what:
        judge = things(reader, others)
        answered(reader, others)
        reader.mention(others | ({-1} if len(others) > 1 else set()))
        return judge
    reader.mention(others | {-1})
    return further(reader, len(others), others)


def that_value(reader):
    if not reader.turns[-1].said:
        raise Unclear('that')
    reader.reference = True
    reader.turn.count = dict([reader.turns[-1].said])
    return counted(reader, reader.scene.find(reader.turn.count))


def else_of_it(reader, attribute):
    return anything_else(reader, 'it', attribute)


def side_of(reader, thing, other, sides):
    one, two = reader.subject(thing), reader.thing(other)
    reader.turn.side = two, sides
    return judge_side(reader, one, two, sides)


def judge_side(reader, one, two, sides):
    axis = ('left', 'right') if re.search('left|side', sides) else ('front', 'behind')
    right = [d for d in axis if reader.scene.lies(one, d, two) is not False]

    def judge(answer):
        said = re.fullmatch(r'(?:to the |on the |in )?(left|right|front|behind)(?: of it| it)?', answer)
        return bool(said) and said.group(1) in right
    return judge


def shared(reader, group, attribute):
    if group == 'their' and reader.turns[-1].same:
        raise Unclear('their')
    objects = reader.group('they' if group in ('their', None) else group)
    reader.turn.listed = objects == reader.scene.all
    if not reader.turn.pair:
        reader.turn.value = attribute, None
    values = reader.scene.values(objects, attribute)
    reader.turn.all = True
    if len(values) == 1:
        reader.turn.said = attribute, next(iter(values))

    def judge(answer):
        if answer.startswith('different') or (answer == 'metal and rubber'):
            return len(values) > 1 and (answer == 'metal and rubber' or
                                        answer == f'different {attribute}s')
        said = [describe(part) for part in re.split(', | and ', answer)]
        return None not in said and {kind.get(attribute) for kind in said} == values and not answer.startswith('more ')
    return judge


def there_are(reader, names):
    """The shapes, colors or materials of all things."""
    attribute = ATTRIBUTES[re.sub('colour', 'color', re.sub('(?:different|kinds of) ', '', names))[:-1]]
    judge = shared(reader, 'things', attribute)
    reader.turn.group, reader.turn.listed = False, True
    return judge


def all_the(reader, names, alone):
    """alone: "what are the colors": of those just spoken of, if any."""
    if alone and (reader.turns[-1].group or reader.turns[-1].spoke or reader.turns[-1].found):
        raise Unread(alone)
    return there_are(reader, names or re.sub('^(?:different|kinds of) ', '', alone))


def value(reader, thing, attribute, one=None, two=None):
    """one, two: the values that are given to choose from."""
    found = reader.thing(thing)
    reader.turn.value = attribute, kind_of(re.sub('^the ', '', thing))
    right = reader.scene.objects[found][attribute]
    reader.turn.said = attribute, right
    if one and (attribute, right) not in (value_of(one), value_of(two)):
        raise Unclear('neither of the two')
    return lambda answer: (describe(answer) or {}).get(attribute) == right and (
        reader.scene.fits(found, describe(answer)))


def no_such(reader, kind, **_):
    """A thing that is not there."""
    kind = kind_of(kind)
    if kind is None or reader.scene.find(kind):
        raise Unread('there is one')
    shape = kind.get('shape')
    none = 'cube|ball|cylinder|cone' if shape is None else shape
    if shape is None or reader.scene.find({'shape': shape}): # "where is the red cube" and there is a blue one
        none = 'nothing'
    return lambda answer: bool(re.fullmatch(rf"there isn't one|i don't see one|there is no (?:{none})", answer))


def side_again(reader, thing):
    """"is it left or right of the cube | left | and the ball"."""
    reader.reference = True
    other, sides = reader.turns[-1].side
    found = reader.thing(thing)
    reader.turn.side = other, sides
    return judge_side(reader, found, other, sides)


def one_each(reader, value, other, group=None):
    two = reader.group(group) if group else reader.they(two=True)
    said = value_of(value), value_of(other)
    if None in said:
        raise Unread(value)
    if len(two) != 2 or said[0][0] != said[1][0]:
        raise Unclear('of more than two')
    reader.turn.all = True
    return yes_or_no(sorted(reader.scene.objects[i][said[0][0]] for i in two) == sorted(s[1] for s in said))


def verify_again(reader, thing):
    if reader.turns[-1].side:
        return side_again(reader, thing)
    if not reader.turns[-1].verify:
        raise Unread(thing)
    reader.reference = True
    attribute, value = reader.turns[-1].verify
    return verify(reader, thing, value)


def value_again(reader, thing):
    if reader.turns[-1].side:
        return side_again(reader, thing)
    if not reader.turns[-1].value:
        raise Unread(thing)
    reader.reference = True
    attribute, kind = reader.turns[-1].value
    said = kind_of(re.sub('^the (?:only )?', '', thing))
    if re.match('the (?:two|2|three|3) ', thing) and thing.split()[-1] in PLURALS:
        return shared(reader, thing, attribute)
    if said is not None and thing.split()[-1] in PLURALS or re.fullmatch('the other (?:.*s|two|2|three|3)', thing):
        return shared(reader, thing, attribute)
    if said is None or re.match('the other ', thing):
        return value(reader, thing, attribute)
    found = reader.scene.find(said)
    if len(found) != 1 and kind is not None:  # "the small one": the other cube
        found = reader.scene.find(dict(kind, **said))
    found = reader.one(found)
    reader.mention({found})
    reader.turn.value = attribute, dict(kind or {}, **said)
    reader.turn.said = attribute, reader.scene.objects[found][attribute]
    return lambda answer: (describe(answer) or {}).get(attribute) == (
        reader.scene.objects[found][attribute])


def verify(reader, thing, value):
    said = value_of(value)
    if not said:
        raise Unread(value)
    found = reader.thing(thing)
    reader.turn.verify = said
    return yes_or_no(reader.scene.fits(found, dict([said])),
                     lambda answer: reader.scene.fits(found, describe(answer) or {'size': 0}))


def what(reader, thing):
    found = reader.thing(thing)
    reader.turn.value = 'shape', kind_of(re.sub('^the ', '', thing))
    reader.turn.said = 'shape', reader.scene.objects[found]['shape']
    return described(reader, [found])


def what_bare(reader, thing):
    """"second object from the left": what that is."""
    if kind_of(thing) is not None:
        raise Unread(thing)
    return what(reader, thing)


def described(reader, objects):
    def judge(answer):
        words = describe(answer)
        return bool(words and 'shape' in words and reader.scene.find(words, objects))
    return judge


def what_at(reader, place):
    for direction, _, at in EXTREMES:
        if re.fullmatch(f'{at}|{_}', place):
            found = reader.scene.extreme(direction, reader.scene.all)
            reader.mention({found})
            reader.turn.row, reader.turn.value = (direction, reader.scene.all, 0), ('shape', None)
            reader.turn.said = 'shape', reader.scene.objects[found]['shape']
            return described(reader, [found])
    raise Unread(place)


def neighbour(reader, dir, thing):
    of, direction = reader.thing(thing), direction_of(dir)
    near, sure = reader.scene.nearest(direction, of), reader.scene.all
    reader.turn.beside = True
    if direction != 'beside':
        sure = reader.scene.toward(direction, of)

    def judge(answer):
        if re.fullmatch("nothing|there's nothing there", answer):
            return not sure
        reader.mention(near)
        reader.turn.answered = next(iter(near)) if len(near) == 1 else None
        return described(reader, near)(answer)
    return judge


def neighbour_of(reader, kind, dir, thing):
    wanted = kind_of(kind)
    if not wanted:
        raise Unread(kind)
    of, direction = reader.thing(thing), direction_of(dir)
    near = reader.scene.find(wanted, reader.scene.nearest(direction, of))
    if not near:
        raise Unclear('another thing is nearer')
    reader.turn.beside = True
    reader.mention(near)
    reader.turn.answered = next(iter(near)) if len(near) == 1 else None
    return described(reader, near)


def neither(reader, one, other):
    said = value_of(one), value_of(other)
    if None in said:
        raise Unread(one)
    found = reader.scene.all - reader.scene.find(dict(said[:1])) - reader.scene.find(dict(said[1:]))
    if len(found) == 1:
        reader.mention(found | {-1})
    reader.turn.group = False
    note_found(reader, found)
    return lambda answer: number_in(answer) == len(found)


def any_two(reader, group, attribute):
    values = [reader.scene.objects[i][attribute] for i in reader.group(group, False)]
    return yes_or_no(len(set(values)) < len(values))


def untold(reader, thing):
    reader.thing(thing)
    return lambda answer: answer in ("i can't tell", "can't tell", "i don't know")


def anything(reader, dir, thing, kind=None):
    kind = kind_of(kind or 'thing')
    if kind is None:
        raise Unread('kind')
    of, direction = reader.thing(thing), direction_of(dir)
    sure = reader.scene.find(kind, reader.scene.toward(direction, of))
    perhaps = reader.scene.find(kind, reader.scene.toward(direction, of, False))

    def judge(answer):
        return exists(reader, sure, False, not sure and bool(perhaps))(answer)
    return judge


def count_toward(reader, dir, thing, kind='things'):
    of, direction, kind = reader.thing(thing), direction_of(dir), kind_of(kind)
    if kind is None:
        raise Unread('kind')
    low = len(reader.scene.find(kind, reader.scene.toward(direction, of)))
    high = len(reader.scene.find(kind, reader.scene.toward(direction, of, False)))
    reader.turn.group = False
    note_found(reader, reader.scene.find(kind, reader.scene.toward(direction, of)))

    def judge(answer):
        if number_in(answer) == 1:
            reader.mention(reader.scene.find(kind, reader.scene.toward(direction, of, False)) | {-1})
        return low <= (number_in(answer) or 0) <= high
    return judge


def two_sides(reader, thing, dir, other, dir2, how, what=None):
    """"what is left of the ball and behind the cube", "how many things are left of it or behind it"."""
    ends = [(direction_of(dir), reader.anchor(thing)), (direction_of(dir2), reader.anchor(other))]
    def there(certain):
        one, two = (reader.scene.toward(direction, of, certain) for direction, of in ends)
        return one | two if how == 'or' else one & two
    sure, perhaps = there(True), there(False)
    reader.turn.group = False
    note_found(reader, sure)
    if what and not sure == perhaps:
        raise Unclear('where they are')
    if what:
        reader.mention(sure)
        return described(reader, [reader.one(sure)])
    return lambda answer: len(sure) <= (number_in(answer) or 0) <= len(perhaps)


def pair(reader, thing, other, dir='front'):
    if re.fullmatch('the (?:thing|object|one|1|item)|.* (?:just|right|directly)', thing):  # "the thing beside the ball"
        raise Unread(thing)
    if kind_of(re.sub('^(?:the |that |this )?(?:only |other )?', '', other)) is None and other not in IT:
        raise Unread(other)
    one, direction = reader.subject(thing), direction_of(dir)
    if direction == 'beside':
        direction = 'front' if re.search('close|near', dir) else 'behind'
    two = reader.thing(other)
    reader.turn.sides = one, two

    def more(answer):
        said = re.fullmatch(r"no, it's (?:on the |in )?(left|right|front|behind)", answer)
        return bool(said) and reader.scene.lies(one, said.group(1), two) is not False
    return yes_or_no(reader.scene.lies(one, direction, two), more)


def which_row(reader, thing):
    return where(reader, thing, rows=True)


def where(reader, thing, sides=False, rows=False):
    places = reader.scene.places(reader.thing(thing))

    def judge(answer):
        said = re.fullmatch(r'(?:(?:on|in|to) the )?(left|right|front|back|middle)', answer)
        return bool(said) and said.group(1) in places and (
            not sides or said.group(1) in ('left', 'right')) and (not rows or said.group(1) in ('front', 'back'))
    return judge


def which_side(reader, thing):
    return where(reader, thing, True)


def on_side(reader, thing, side):
    return yes_or_no(side in reader.scene.places(reader.thing(thing)))


def more_than(reader, one, other, how):
    kinds = kind_of(one), kind_of(other)
    if None in kinds:
        raise Unread(one)
    kinds = with_base(kinds, other)
    reader.turn.group = False
    a, b = reader.turn.compared = [len(reader.scene.find(kind)) for kind in kinds]
    return yes_or_no({'more': a > b, 'fewer': a < b, 'less': a < b}.get(how, a == b))


def which_more(reader, one, other):
    kinds = kind_of(one), kind_of(other)
    if None in kinds:
        raise Unread(one)
    kinds = with_base(kinds, other)
    reader.turn.group = False
    a, b = reader.turn.compared = [len(reader.scene.find(kind)) for kind in kinds]
    differ = [dict(set(kind.items()) - set(kinds[1 - i].items())) for i, kind in enumerate(kinds)]

    def judge(answer):
        if a == b:
            return answer in ('the same', 'the same number')
        return describe(answer) == differ[a < b]
    return judge


def same_as(reader, thing, other, attribute):
    found = reader.subject(thing), reader.thing(other)
    return yes_or_no(len(reader.scene.values(found, attribute)) == 1)


def same_as_all(reader, thing, other, attribute):
    kind = kind_of(other)
    if kind is None or other.split()[-1] not in PLURALS or not thing:
        raise Unread(other)
    one, others = reader.subject(thing), reader.scene.find(kind)
    values = reader.scene.values(others, attribute)
    if len(values) != 1 or one in others:
        raise Unclear('of several')
    reader.turn.group = False
    return yes_or_no(reader.scene.objects[one][attribute] in values)


def which_same(reader, attribute, thing='it', kind=None):
    """What has it, too: one thing."""
    wanted = kind_of(re.sub('^other ', '', kind)) if kind else {}
    one = reader.thing(thing)
    if wanted is None:
        raise Unread(kind)
    found = reader.scene.find(dict(wanted, **{attribute: reader.scene.objects[one][attribute]})) - {one}
    reader.mention(found)
    answered(reader, found)
    return described(reader, [reader.one(found)])


def some_same(reader, attribute, kind, thing='it'):
    if kind_of(kind) is None:
        raise Unread(kind)
    one = reader.thing(thing)
    found = reader.scene.find(dict(kind_of(kind), **{attribute: reader.scene.objects[one][attribute]})) - {one}
    if found:
        reader.mention(found | {-1})
    reader.turn.group = False
    if len(found) == 1:
        answered(reader, found)
    return exists(reader, found, False)


def both_kinds(reader, one, other):
    kinds = [kind_of(re.sub('^an? ', '', text)) for text in (one, other)]
    if None in kinds:
        raise Unread(one)
    reader.mention({-1})
    reader.turn.group = False
    return yes_or_no(all(reader.scene.find(kind) for kind in kinds))


def as_kind(text):
    return text + ' things' if VALUES.get(text, ('shape',))[0] != 'shape' else text


def opposite(judge):
    return yes_or_no(not judge('yes'))


def only_kinds(reader, one, other=None):
    kinds = [kind_of(text) or (value_of(text) and dict([value_of(text)])) for text in (one, other) if text]
    if not all(kinds):
        raise Unread(one)
    reader.turn.group = False
    reader.turn.left_out = frozenset(i for i in reader.scene.all if not any(reader.scene.fits(i, kind) for kind in kinds))
    return yes_or_no(not reader.turn.left_out)


def is_extreme(reader, thing, place):
    direction = ('left' if 'left' in place else 'right' if 'right' in place else
                 'front' if place in ('closest', 'nearest') else 'behind')
    return yes_or_no(reader.subject(thing) == reader.scene.extreme(direction, reader.scene.all))


def is_between(reader, thing, one, other):
    it = reader.thing(thing)
    return yes_or_no(it in reader.scene.between(reader.thing(one), reader.thing(other)))


def differ(reader, group, attribute):
    found = reader.group(group)
    reader.turn.all = True
    return yes_or_no(len(reader.scene.values(found, attribute)) > 1)


def same_as_it(reader, other, attribute):
    if not re.match('the ', other or '') or kind_of(re.sub('^the (?:other )?(?:only )?', '', other)) is None or (
            other.split()[-1] in PLURALS):
        raise Unread(other)
    return same_as(reader, 'it', other, attribute)


SMALLER = ('smaller', 'littler', 'shorter')
HEIGHTS = {'cube': 2, 'ball': 2, 'cylinder': 1.85, 'cone': 2.1}  # radii


def extent(reader, i, how):
    """Its height where that is asked for, else its size."""
    thing = reader.scene.objects[i]
    if how in ('taller', 'shorter'):
        return thing['radius'] * HEIGHTS[thing['shape']]
    return ['small', 'large'].index(thing['size'])


def compare(reader, thing, other, how):
    one, two = (extent(reader, i, how) for i in (reader.thing(thing), reader.second(other, thing)))
    return yes_or_no(one < two if how in SMALLER else one > two)


def which_extent(reader, thing, other):
    one, two = extent(reader, reader.subject(thing), ''), extent(reader, reader.thing(other), '')
    right = (["bigger", "it's bigger"] if one > two else ["smaller", "it's smaller"] if one < two else
             ["the same size", "they're the same size"])
    return lambda answer: answer in right


def any_alike(reader, attributes):
    reader.mention({-1})
    reader.turn.group = False
    seen = [tuple(o[a] for a in attributes) for o in reader.scene.objects]
    return yes_or_no(len(set(seen)) < len(seen))


def odd_one(reader, group=None):
    """The only one that differs from all others, in something in which these agree."""
    among = reader.group(group) if group else reader.scene.all
    odd = frozenset(i for i in among for a in ('color', 'shape', 'material', 'size')
                    if len(reader.scene.values(among - {i}, a)) == 1 and
                    len(reader.scene.values(among, a)) == 2)
    found = reader.one(odd)
    reader.mention(odd)
    if not group:
        return described(reader, [found])
    if group not in ('them', 'those', 'these'):
        reader.turn.group = False
    return chosen(reader, odd, among, ())


def odd_attribute(reader, group, attribute):
    """"which of the cubes differs in color"."""
    among = reader.group(group)
    odd = frozenset(i for i in among if len(reader.scene.values(among - {i}, attribute)) == 1 and len(
        reader.scene.values(among, attribute)) == 2)
    reader.mention({reader.one(odd)})
    if group not in ('them', 'those', 'these'):
        reader.turn.group = False
    return chosen(reader, odd, among, ())


def is_hidden(reader, i):
    """True or False; None where people might differ."""
    seen = reader.scene.objects[i]['visible'] / reader.scene.objects[i]['total']
    return True if seen < 0.76 else False if seen > 0.96 else None


def hidden(reader, thing):
    truth = is_hidden(reader, reader.subject(thing))
    if truth is None:
        raise Unclear('hidden')
    return yes_or_no(truth)


def whole(reader, thing):
    return opposite(hidden(reader, thing))


def hider(reader, thing):
    """What covers a part of it: what stands before it and is seen to touch it."""
    one = reader.scene.objects[reader.thing(thing)]
    near = frozenset(i for i in reader.scene.all for o in [reader.scene.objects[i]] if o is not one and all(
        o['box'][k] <= one['box'][k + 2] + 2 and one['box'][k] <= o['box'][k + 2] + 2 for k in (0, 1)) and
        o['position'][1] < one['position'][1])
    found = reader.one(near)
    reader.mention(near)
    reader.turn.answered = found
    return described(reader, near)


def any_hidden(reader, **_):
    reader.mention({-1})
    reader.turn.group = False
    truths = {is_hidden(reader, i) for i in reader.scene.all}
    if True not in truths and None in truths:
        raise Unclear('hidden')
    return yes_or_no(True in truths)


def which_hidden(reader, **_):
    truths = {i: is_hidden(reader, i) for i in reader.scene.all}
    found = frozenset(i for i, truth in truths.items() if truth)
    if None in truths.values() or len(found) > 1:
        raise Unclear('hidden')
    if not found:
        return lambda answer: answer in ('nothing', "there's nothing there")
    reader.mention(found)
    return described(reader, found)


def compare_all(reader, thing, how, many):
    kind = kind_of(many)
    if kind is None or many.split()[-1] not in PLURALS:
        raise Unread(many)
    one, others = reader.subject(thing), reader.scene.find(kind)
    own, sizes = extent(reader, one, how), [extent(reader, i, how) for i in others]
    right = {own < size if how in SMALLER else own > size for size in sizes}
    if len(right) != 1 or one in others:
        raise Unclear('of several sizes')
    reader.turn.group = False
    return yes_or_no(right.pop())


def any_compared(reader, how, thing):
    one = reader.thing(thing)
    sign = -1 if how in SMALLER else 1
    found = frozenset(i for i in reader.scene.all
                      if sign * (extent(reader, i, how) - extent(reader, one, how)) > 0)
    return exists(reader, found, False)


def nothing_there(reader, thing):
    """Everything stands on the table."""
    reader.thing(thing)
    return yes_or_no(False)


def the_rest(reader, value, thing=None, others=None):
    said = value_of(value)
    if not said:
        raise Unread(value)
    if thing is None:
        reader.reference = True
        for turn in reversed(reader.turns if others else []):
            if turn.group:
                raise Unclear('the others of those')
            if turn.group is False:
                break
    rest = reader.scene.all - {reader.thing(thing or 'it')}
    reader.mention({-1})
    reader.turn.group = False
    some = reader.scene.find(dict([said]), rest)
    reader.turn.not_so, reader.turn.part, reader.turn.all_value = rest - some, said[0], value

    def more(answer):
        return {'yes, all of them': True, 'all of them': True, 'no, not all of them': True,
                'no, only some of them': bool(some), 'no, none of them': not some}.get(answer)
    return yes_or_no(some == rest, more)


def choice(reader, thing, other, how):
    found = reader.thing(thing), reader.second(other, thing)
    sizes = [extent(reader, i, how) for i in found]
    best = found[(sizes[0] < sizes[1]) != (how in SMALLER)]
    other = found[0] + found[1] - best
    answered(reader, frozenset({best}), True)

    def judge(answer):
        if answer in PLACES:
            return sizes[0] != sizes[1] and best == reader.scene.extreme(PLACES[answer], set(found))
        words = describe(answer)
        return bool(words) and sizes[0] != sizes[1] and reader.scene.fits(best, words) and (
            not reader.scene.fits(other, words))
    return judge


def bound(reader, kind, how, number):
    if kind_of(kind) is None:
        raise Unread(kind)
    found = reader.scene.find(kind_of(kind))
    n, asked = len(found), int(number)
    reader.bring_up(found, 'yes', True)
    return yes_or_no(n > asked if how == 'more than' else n >= asked if how == 'at least' else n < asked + bool(re.search('most|more', how)))


def count_both(reader, one, other, rest='things', **_):
    found = frozenset()
    for text in (one, other):
        said = value_of(text)
        kind = dict([said]) if said and said[0] == 'color' else kind_of(text)
        if not kind or kind_of(rest) is None:
            raise Unread(text)
        found |= reader.scene.find(dict(kind, **kind_of(rest)))
    if len(found) == 1:
        reader.mention(found | {-1})
    reader.turn.group = False
    note_found(reader, found)
    return lambda answer: number_in(answer) == len(found)


def count_difference(reader, one, other, how):
    kinds = kind_of(one), kind_of(other)
    if None in kinds:
        raise Unread(one)
    kinds = with_base(kinds, other)
    a, b = (len(reader.scene.find(kind)) for kind in kinds)
    reader.turn.group = False
    return lambda answer: number_in(answer) == (a - b if how == 'more' else b - a)


def such_not(reader, kind, value, count=None):
    """Things of a kind that have not the value."""
    wanted, said = kind_of(kind), value_of(value)
    if wanted is None or not said:
        raise Unread(kind)
    found = reader.scene.find(wanted) - reader.scene.find(dict([said]))
    reader.turn.group = False
    if count:
        note_found(reader, found)
        if len(found) == 1:
            reader.mention(found | {-1})
        return lambda answer: number_in(answer) == len(found)
    if found:
        reader.mention(found | {-1})
    return exists(reader, found, kind.split()[-1] in PLURALS)


def only(reader, thing, kind):
    wanted = kind_of(kind)
    found = wanted and reader.thing(thing)
    if not wanted or not reader.scene.fits(found, wanted):
        raise Unread(kind)
    others = reader.scene.find(wanted) - {found}
    if len(others) > 1:
        reader.turn.found = reader.turn.rest = others
    return yes_or_no(not others)


def between(reader, thing, other, what=None):
    return found_between(reader, (reader.thing(thing), reader.thing(other)), what)


def found_between(reader, two, what):
    found = reader.scene.between(*two)
    if found:
        reader.turn.group = False
        reader.mention(found | {-1})
    if what is None:
        return exists(reader, found, False)
    reader.turn.answered = next(iter(found)) if len(found) == 1 else None
    return described(reader, found)


def nearer(reader, thing, other, to):
    at, two = reader.thing(to), [reader.thing(thing), reader.second(other, thing)]
    best = min(two, key=lambda i: reader.scene.near(i, at))
    answered(reader, frozenset({best}), True)
    return chosen(reader, frozenset({best}), frozenset(two), ())


def aspect(reader, differ, group=None, thing=None, other=None):
    two = reader.group(group) if group else frozenset({reader.thing(thing), reader.thing(other)})
    if len(two) != 2:
        raise Unclear('of more than two')
    right = {a for a in ('color', 'shape', 'material', 'size')
             if (len(reader.scene.values(two, a)) == 2) == differ}

    def judge(answer):
        said = {'metal and rubber': 'different materials'}.get(answer, answer)
        said = re.fullmatch(r'(?:the|different) (\w+?)s?', said)
        return answer == 'nothing' and not right or bool(said) and said.group(1) in right and (
            differ or answer.startswith('the'))
    return judge


def beside_it(make):
    return lambda reader, side: make(reader, f'to the {side} of', 'it')


def any_ones(reader, value):
    """Of those last spoken of."""
    if not (reader.turns[-1].group or reader.turns[-1].spoke):
        raise Unread(value)
    return any_of(reader, 'them', value)


def anything_else(reader, thing, attribute, number=None):
    one = reader.thing(thing)
    found = reader.scene.find({attribute: reader.scene.objects[one][attribute]}) - {one}
    reader.turn.two = found | {one}
    if len(found) == 1 and not number:
        reader.turn.answered = next(iter(found))
    if number:
        reader.turn.group = False
        return counted(reader, found, False)
    return exists(reader, found, False)


def another(reader, kind, number=None):
    """Besides those of the kind that were spoken of."""
    wanted = kind_of(kind)
    if wanted is None:
        raise Unread(kind)
    reader.reference = True
    known = {i for turn in reader.turns for mention in turn.single for i in mention
             if len(mention) == 1 and i >= 0 and reader.scene.fits(i, wanted)}
    if not known:
        raise Unclear('another')
    readings = {reader.scene.find(wanted) - known}
    try:
        readings.add(reader.scene.find(wanted) - {reader.it()})
    except Unclear:
        pass
    if len(readings) != 1:
        raise Unclear('other than which?')
    found = readings.pop()
    if len(found) == 1 and not number:
        reader.turn.answered = next(iter(found))
    for i in known:
        reader.mention({i})
    try:
        reader.turn.two = found | {reader.it()}
    except Unclear:
        pass
    plural = kind.split()[-1] in PLURALS
    if number:
        reader.turn.group = False
        return counted(reader, found, False)
    return exists(reader, found, plural)


# ---- what was asked and answered just before ------------------------------------------------------


def sure(reader):
    reader.turn.skip = reader.reference = True
    return yes_or_no(True)


def direction_of_part(part):
    return 'front' if 'foreground' in part or 'front' in part else direction_of(part)


def in_part(reader, part, kind='thing'):
    """Those of a kind in a part of the picture, surely and perhaps."""
    wanted = kind_of(kind)
    if wanted is None:
        raise Unread(kind)
    reader.turn.at = kind
    sure, doubtful = (reader.scene.find(wanted, some) for some in reader.scene.part(direction_of_part(part)))
    return sure, doubtful


def part_exist(reader, part, kind='thing'):
    found, doubtful = in_part(reader, part, kind)
    if not found and doubtful:
        raise Unclear('in the middle')
    reader.turn.at = part_exist, kind
    reader.turn.there = found
    plural = kind.split()[-1] in PLURALS

    def judge(answer):
        return exists(reader, found, plural)(answer) or bool(
            found and doubtful and exists(reader, found | doubtful, plural)(answer))
    return judge


def part_count(reader, part, kind='things'):
    found, doubtful = in_part(reader, part, kind)
    if doubtful:
        raise Unclear('in the middle')
    reader.turn.at = part_count, kind
    return counted(reader, found)


def part_what(reader, part):
    found, doubtful = in_part(reader, part)
    if doubtful:
        raise Unclear('in the middle')
    reader.turn.group = found if len(found) > 1 else False
    return things(reader, found)


def part_again(reader, part):
    """"is there anything on the left | no | and on the right"."""
    if not reader.turns[-1].at:
        raise Unread(part)
    make, kind = reader.turns[-1].at
    reader.reference = True
    return make(reader, part, kind)


def more_parts(reader, one, other, kind='things'):
    wanted = kind_of(kind)
    if wanted is None:
        raise Unread(kind)
    sides = [direction_of_part(text) for text in (one, other)]
    least = [len(reader.scene.find(wanted, reader.scene.part(side)[0])) for side in sides]
    open_ones = reader.scene.find(wanted) - reader.scene.part(sides[0])[0] - reader.scene.part(sides[1])[0]
    reader.turn.group = False
    if abs(least[0] - least[1]) <= len(open_ones) and open_ones:
        raise Unclear('in the middle')
    reader.turn.compared = least

    def judge(answer):
        said = re.fullmatch(r'(?:more )?(?:(?:on|in|at|to) the )?(left|right|front|back)', answer)
        if least[0] == least[1]:
            return answer in ('the same', 'the same number')
        return bool(said) and direction_of_part(said.group(1)) == sides[least[0] < least[1]]
    return judge


def together(reader):
    """Of what was counted in the two rounds before."""
    counted_ones = []
    for turn in reversed(reader.turns):
        if turn.counted is None:
            break
        counted_ones.append(turn.counted)
    if len(counted_ones) < 2:
        raise Unread('together')
    reader.reference = True
    if len(counted_ones) > 2 and counted_ones[2] - counted_ones[0] - counted_ones[1]:
        raise Unclear('of two or three')
    one, two = counted_ones[:2]
    if one & two:
        raise Unclear('some counted twice')
    reader.turn.group = one | two if len(one | two) > 1 else False
    note_found(reader, one | two)
    return lambda answer: number_in(answer) == len(one | two)


def how_many_more(reader):
    if reader.turns[-1].compared is None:
        raise Unread('compared')
    reader.reference = True
    a, b = reader.turns[-1].compared
    return lambda answer: number_in(answer) == abs(a - b)


def than_that(reader, how, kind):
    """"how many cubes are there | 3 | is that more than the number of balls"."""
    number, wanted = number_in(reader.turns[-1].answer), kind_of(kind)
    if number is None or polarity(reader.turns[-1].answer) is not None or wanted is None:
        raise Unread(kind)
    reader.reference, reader.turn.group = True, False
    a, b = reader.turn.compared = number, len(reader.scene.find(wanted))
    return yes_or_no(a > b if how == 'more' else a < b)


def number_difference(reader, one, other, how='difference'):
    kinds = kind_of(one), kind_of(other)
    if None in kinds:
        raise Unread(one)
    kinds = with_base(kinds, other)
    a, b = (len(reader.scene.find(kind)) for kind in kinds)
    reader.turn.group = False
    return lambda answer: number_in(answer) == (a - b if how == 'minus' else abs(a - b))


def plus(reader, one, other):
    kinds = kind_of(one), kind_of(other)
    if None in kinds:
        raise Unread(one)
    found = [reader.scene.find(kind) for kind in kinds]
    if found[0] & found[1]:
        raise Unclear('some counted twice')
    reader.turn.group = False
    note_found(reader, found[0] | found[1])
    return lambda answer: number_in(answer) == len(found[0] | found[1])


def what_else(reader):
    """"are there only cubes | no | what else is there", "how many cubes | 3 | what else"."""
    last = reader.turns[-1]
    if last.left_out is not None:
        rest = last.left_out
    elif last.some is not None and (last.spoke or last.group):
        rest = frozenset(last.spoke or last.group) - last.some
        if rest != reader.scene.all - last.some:
            raise Unclear('else of those or of all')
    elif last.count or last.exist:
        rest = reader.scene.all - reader.scene.find(last.count or last.exist)
    elif last.counted is not None and last.counted != reader.scene.all:
        rest = reader.scene.all - last.counted
    else:
        raise Unread('else')
    reader.reference = True
    return left_over(reader, rest)


def the_others(reader, text):
    """"how many of them are red | 2 | what about the others", "are they all big | no | and the rest"."""
    last = reader.turns[-1]
    if last.not_so is not None:
        rest = last.not_so
    elif last.left_out is not None:
        rest = last.left_out
    elif last.some is not None and (last.spoke or last.group):
        rest = frozenset(last.spoke or last.group) - last.some
    elif last.count and last.part:
        rest = (last.whole or reader.scene.all) - reader.scene.find(last.count)
    elif last.count or last.exist:
        rest = reader.scene.all - reader.scene.find(last.count or last.exist)
    else:
        raise Unread('the others')
    number = re.search(r'\b(two|2|three|3)\b', text)
    one = re.fullmatch(r'.*\b(?:other|last|remaining)(?: (?:one|1))?', text)
    if not rest or (number and len(rest) != int(NUMBERS.get(number[1], number[1]))) or (one and len(rest) > 1):
        raise Unclear(text)
    reader.reference = True
    if last.part is None or last.part == 'shape':
        return left_over(reader, rest)
    return of_those(reader, rest, last.part)


def of_those(reader, found, attribute):
    """The values of some, as a group or one alone."""
    if len(found) > 1:
        reader.turn.group = reader.turn.spoke = found
    else:
        reader.mention(found)
    values = reader.scene.values(found, attribute)
    if len(values) == 1:
        reader.turn.said = attribute, next(iter(values))
    reader.turn.value = attribute, None

    def judge(answer):
        if answer.startswith('different') or answer == 'metal and rubber':
            return len(values) > 1 and answer in ('metal and rubber', f'different {attribute}s')
        said = [describe(part) for part in re.split(', | and ', answer)]
        return None not in said and {kind.get(attribute) for kind in said} == values
    return judge


def all_again(reader, group):
    """"are all the cubes big | no | same for the balls"."""
    if reader.turns[-1].all_value is None or kind_of(re.sub('^the ', '', group)) is None or group.split()[-1] not in PLURALS:
        raise Unread(group)
    reader.reference = True
    return all_are(reader, group, reader.turns[-1].all_value)


def kind_again(kind, value):
    return dict(kind, **dict([value]))


def ones_again(reader, value, plural=None, how=None):
    """"how many red cubes are there | 2 | and blue ones"; "is there a red cube | no | how about blue"."""
    said, last = value_of(value), reader.turns[-1]
    if not said or said[0] == 'shape':
        raise Unread(value)
    if how == 'how many' and last.exist is not None:
        reader.reference = True
        reader.turn.count = kind = kind_again(last.exist, said)
        return counted(reader, reader.scene.find(kind))
    if how == 'any' and last.exist is None:
        raise Unread(value)
    if last.count is not None and last.some is None and how != 'any' and (last.count or last.counted is not None):
        reader.reference = True
        kind = kind_again(last.count, said)
        reader.turn.count = kind
        return counted(reader, reader.scene.find(kind))
    if last.exist is not None:
        reader.reference = True
        reader.turn.exist = kind = kind_again(last.exist, said)
        return exists(reader, reader.scene.find(kind), plural is not None and 'ones' in plural)
    raise Unread(value)


def count_ones(reader, value):
    """"how many small ones": of those spoken of."""
    said = value_of(value)
    if not said or said[0] == 'shape':
        raise Unread(value)
    return count_said(reader, None, value)


def ones_of_those(reader, value):
    """"how many of them are red | 2 | and blue ones"."""
    if reader.turns[-1].some is None:
        raise Unread(value)
    return count_ones(reader, value)


def what_are_again(reader, value):
    if not reader.turns[-1].whats:
        raise Unread(value)
    reader.reference = True
    return what_are(reader, value)


def value_of_kind(reader, value):
    """"what shape is the blue one | a cube | and red": the red one."""
    said, last = value_of(value), reader.turns[-1]
    if not said or not last.value or last.value[0] == said[0]:
        raise Unread(value)
    attribute, kind = last.value
    found = reader.scene.find(kind_again(kind or {}, said))
    if len(found) != 1:
        found = reader.scene.find(dict([said]))
    reader.reference = True
    found = reader.one(found)
    reader.mention({found})
    reader.turn.value, reader.turn.said = (attribute, kind_again(kind or {}, said)), (attribute, reader.scene.objects[found][attribute])
    return lambda answer: (describe(answer) or {}).get(attribute) == reader.scene.objects[found][attribute]


def next_one(reader):
    if reader.turns[-1].row is None:
        raise Unread('next')
    direction, among, rank = reader.turns[-1].row
    if len(among) < rank + 2:
        raise Unclear('there is no next')
    reader.reference = True
    found = reader.scene.ranked(direction, among, rank + 1)
    reader.mention({found})
    attribute = (reader.turns[-1].value or ('shape',))[0]
    reader.turn.row, reader.turn.value = (direction, among, rank + 1), (attribute, None)
    reader.turn.said = attribute, reader.scene.objects[found][attribute]
    if attribute == 'shape':
        return described(reader, [found])
    return lambda answer: (describe(answer) or {}).get(attribute) == reader.scene.objects[found][attribute]


def place_again(reader, place):
    """"what is on the left | a cube | and on the right"."""
    last = reader.turns[-1]
    if last.row is None:
        raise Unread(place)
    attribute = (last.value or ('shape',))[0]
    for direction, one, at in EXTREMES:
        if ' ' not in direction and re.fullmatch(f'(?:{at})|(?:{one})', place):  # corners are of the picture
            among = last.row[1]
            found = reader.scene.extreme(direction, among)
            reader.reference = True
            reader.mention({found})
            reader.turn.row, reader.turn.value = (direction, among, 0), (attribute, None)
            reader.turn.said = attribute, reader.scene.objects[found][attribute]
            if attribute == 'shape':
                return described(reader, [found])
            return lambda answer: (describe(answer) or {}).get(attribute) == reader.scene.objects[found][attribute]
    raise Unread(place)


def beside_each(reader, thing, other):
    if re.fullmatch('(?:the )?(?:thing|object|one|1|item)|.* (?:just|right|directly)', thing) or not is_noun(other):
        raise Unread(thing)
    one = reader.subject(thing)
    two = reader.thing(other)
    return yes_or_no(reader.scene.beside(one, two))


def is_noun(text):
    last = text.split()[-1]
    return last in NOUNS + ['it'] or VALUES.get(last, ('',))[0] == 'shape' or text in IT or bool(re.search(r'\b(?:made of|that is) \w+$|(?:left|right|front|back)$', text))


def bare_extreme(reader, thing):
    """"nearest thing", "the 1st object from the left", "biggest black thing": what that is, or what was asked before."""
    kinds = [re.fullmatch(rf'(?:{one}) (.*)|(.*?) (?:{at})', thing) for _, one, at in EXTREMES] + [
        re.fullmatch(r'(?:first|1st|second|2nd|third|3rd) (.*) from (?:the )?(?:left|right|front|back)()', thing),
        re.fullmatch(r'(?:biggest|largest|tallest|smallest|littlest|shortest) (.*)()', thing)]
    if not any(m and kind_of(m[1] or m[2]) is not None for m in kinds):
        raise Unread(thing)
    last = reader.turns[-1]
    if re.fullmatch('(?:biggest|largest|tallest|smallest|littlest|shortest) (?:thing|object|item|one|1|shape)', thing):
        return what(reader, f'the {thing}')
    if last.verify and not last.value:
        return verify_again(reader, f'the {thing}')
    if last.side:
        return side_again(reader, f'the {thing}')
    if last.value:
        return value_again(reader, f'the {thing}')
    return what(reader, f'the {thing}')


def bare_place(reader, place):
    return what_at(reader, place)


def bare_relation(reader, thing, kind):
    """"purple object to the right of the cylinder", where there are several purple ones: what that is."""
    thing, wanted, last = re.sub('^the ', '', thing), kind_of(re.sub('^the ', '', kind)), reader.turns[-1]
    if wanted is None or len(reader.scene.find(wanted)) < 2 or not is_noun(thing):
        raise Unread(thing)
    if last.verify and not last.value:
        return verify_again(reader, f'the {thing}')
    if last.value:
        return value_again(reader, f'the {thing}')
    return what(reader, f'the {thing}')


def noun_again(reader, thing):
    """"what color is the cube | red | the ball": of that."""
    kind, last = kind_of(re.sub('^(?:the )?(?:only )?', '', thing)), reader.turns[-1]
    if kind is None or thing.split()[-1] in PLURALS or last.count or last.exist:
        raise Unread(thing)
    thing = re.sub('^(?:the )?', 'the ', thing)
    if last.value or last.side:
        return value_again(reader, thing)
    if last.verify:
        return verify_again(reader, thing)
    raise Unread(thing)


def those_only(reader, kind):
    """"is there a red thing | yes | is that the only red thing"."""
    if reader.turns[-1].exist is None or kind_of(kind) != reader.turns[-1].exist:
        raise Unread(kind)
    return another_one(reader, only=True, kind=kind)


def others_all(reader, group, value):
    last = reader.turns[-1]
    if last.some is None and not last.count and not last.rest and last.not_so is None:
        raise Unread(group)
    if last.not_so is not None:
        raise Unread(group)
    return all_are(reader, 'the others', value)


def there_are_these(reader, names):
    return there_are(reader, names)


OPPOSITE = {'left': 'to the right of', 'right': 'to the left of', 'front': 'behind', 'behind': 'in front of', 'beside': 'next to'}


def of_what(reader, thing, dir):
    """"what is it behind": what is in front of it."""
    return neighbour(reader, OPPOSITE[direction_of(dir)], thing)


def missing(reader):
    absent_ones = {'cube', 'ball', 'cylinder', 'cone'} - reader.scene.values(reader.scene.all, 'shape')
    if len(absent_ones) != 1:
        raise Unclear('several are missing')
    reader.mention({-1})
    shape = next(iter(absent_ones))
    return lambda answer: describe(answer) == {'shape': shape} or answer in (f'there is no {shape}', f'no {shape}', f'no {shape}s')


def such(reader, text):
    """Those that are "red", "made of metal", "cubes", "a big cube"."""
    kind = kind_of(text) or (value_of(text) and dict([value_of(text)]))
    if not kind:
        raise Unread(text)
    return reader.scene.find(kind)


def not_these(reader, kind, value=None):
    """How many things there are of other kinds, or how many of these are red."""
    left_out = such(reader, kind)
    if kind_of(kind) and kind.split()[-1] not in PLURALS and len(left_out) != 1:
        raise Unclear(kind)
    return count_mixed(reader, (such(reader, value) if value else reader.scene.all) - left_out)


def without_these(reader, kind):
    """"how many things are there | 9 | and without the cubes"."""
    if reader.turns[-1].count != {}:
        raise Unread(kind)
    reader.reference = True
    return not_these(reader, kind)


def count_mixed(reader, found):
    reader.turn.group = False
    if len(found) == 1:
        reader.mention(found | {-1})
    return counted(reader, found)


def either_kinds(reader, one, other, how='or', whole=None, both=None):
    """"red or cubes", "both red and metal", "red but not cubes": of all things, or of a kind."""
    if whole and kind_of(whole) is None or how == 'and' and not both and len({attribute_of(text) for text in (one, other)}) < 2:
        raise Unread(whole)
    a, b = such(reader, one), such(reader, other)
    found = {'or': a | b, 'and': a & b}.get(re.sub(' also', '', how), a - b)
    return count_mixed(reader, reader.scene.find(kind_of(whole or 'things'), found))


def attribute_of(text):
    return value_of(text) and value_of(text)[0]


def that_is_all(reader):
    if not (reader.turns[-1].listed or reader.turns[-1].all):
        raise Unread('that is all')
    reader.reference = True
    return yes_or_no(True)


def two_numbers(reader, kind):
    wanted = kind_of(kind)
    if wanted is None:
        raise Unread(kind)
    reader.turn.count = wanted
    return counted(reader, reader.scene.find(wanted))


def side_now(reader, side):
    """"is it in front of the cube | no | or behind"."""
    last = reader.turns[-1]
    if not last.sides:
        raise Unread(side)
    reader.reference = True
    one, two = last.sides
    reader.mention({one})
    reader.turn.focus, reader.turn.sides = [frozenset({one})], (one, two)

    def more(answer):
        said = re.fullmatch(r"no, it's (?:on the |in )?(left|right|front|behind)", answer)
        return bool(said) and reader.scene.lies(one, said.group(1), two) is not False
    return yes_or_no(reader.scene.lies(one, direction_of_part(side), two), more)


def attribute_again(reader, attribute):
    """"what color is it | red | not the color, the shape"."""
    last = reader.turns[-1]
    reader.reference = True
    single = reader.union(last.single)
    if len(single) == 1 and -1 not in single:
        found = next(iter(single))
        reader.mention({found})
        reader.turn.noun = last.noun
        reader.turn.value, reader.turn.said = (attribute, None), (attribute, reader.scene.objects[found][attribute])
        return lambda answer: (describe(answer) or {}).get(attribute) == reader.scene.objects[found][attribute] and (
            reader.scene.fits(found, describe(answer)))
    return shared(reader, 'they', attribute)


def their_colors(reader, kind):
    """"list the cubes"."""
    wanted = kind_of(kind)
    if not wanted or 'shape' not in wanted or kind.split()[-1] not in PLURALS:
        raise Unread(kind)
    return shared(reader, f'the {kind}', 'color')


def colors_of(reader, group):
    found = reader.group(group)
    return lambda answer: number_in(answer) == len(reader.scene.values(found, 'color'))


def of_all_or_those(reader, names):
    """"colors", "which shapes": right after a group of that group, else of all."""
    attribute = ATTRIBUTES[re.sub('(?:different |kinds of )', '', names)[:-1]]
    last = reader.turns[-1]
    theirs = None
    if last.group or last.spoke or last.found or last.pair:
        try:
            theirs = shared(reader, 'they', attribute)
        except Unclear:
            pass
        if theirs and len(reader.turns) > 1 and (last.group or last.found):
            return theirs
    judge = shared(reader, 'things', attribute)
    reader.turn.group, reader.turn.listed = False, True
    return lambda answer: judge(answer) or bool(theirs and theirs(answer))


def bare_biggest(reader, how, kind='thing', which=None):
    if which:
        try:
            return which_of(reader, f'is {how}')
        except Unclear:
            pass
    return what(reader, f'the {how} {kind or "thing"}')


def one_such(reader, value):
    """"find something red", "give me a red object"."""
    said = value_of(value)
    wanted = dict([said]) if said else kind_of(value)
    if not wanted:
        raise Unread(value)
    found = reader.scene.find(wanted)
    reader.mention(found if len(found) == 1 else found | {-1})
    return described(reader, found)


def of_the_picture(answers, unclear=True):
    def make(reader, **_):
        if unclear:
            reader.mention({-1})  # "what color is the table": then "it" is the table
            reader.turn.group = False
        return lambda answer: bool(re.fullmatch(answers, answer))
    return make


def what_there_is(reader):
    """"what do you see": "some blocks on a table", "a cube and a ball", "they're all cubes"."""
    shapes = reader.scene.values(reader.scene.all, 'shape')

    def judge(answer):
        if answer in ('some blocks on a table', 'just some blocks'):
            return True
        if len(shapes) == 1:
            return answer == f"they're all {next(iter(shapes))}s"
        said = [describe(part) for part in re.split(', | and ', answer)]
        return all(kind is not None and set(kind) == {'shape'} for kind in said) and {kind['shape'] for kind in said} == shapes
    return judge


def absent(reader, thing, how=None):
    """Nothing that is named in blocks' words."""
    if any(word in VALUES or word in NOUNS or word in ('table', 'shadows')
           for word in thing.split()):
        raise Unread(thing)
    if how:
        return lambda answer: number_in(answer) == 0
    return yes_or_no(False, lambda answer: answer in ('no, just blocks', 'no, none of them'))


ATTRIBUTES = {'color': 'color', 'colour': 'color', 'shape': 'shape', 'size': 'size',
              'material': 'material', 'stuff': 'material'}
EXISTS = (r"(?:isn't there|is there|do you see|can you see|are there|does the (?:picture|scene|image) (?:have|contain|show)|have you "
          r"(?:got|spotted)|does it have|can you (?:spot|find)|do you spot)"
          r"(?: at least 1)?(?: an?| any| some)?|an?|any")


def attribute_questions():
    colors = f"(?:{'|'.join(w for w, (a, _) in VALUES.items() if a == 'color')})"
    shapes = '(?:cube|square|ball|circle|cylinder|tube|cone)'
    color, kind = r'(?:what|which) colou?r', r'(?:what|which|what kind of|what sort of) shape'
    thing = '(?P<thing>.*)'
    yield 'color', [rf'{color} is {thing}', rf"what(?: is|'s) the colou?r of {thing}",
                    rf'{color} does {thing} have', rf'(?:can you )?tell me the color of {thing}',
                    rf'{color} would you say {thing} is', rf'do you know what color {thing} is', rf'{color} has {thing}', rf'{color} {thing} has',
                    rf'color (?:of )?{thing}', rf'{thing} color', rf'what color {thing}',
                    rf'(?:is|what color is) (?P<thing>.*?),? (?P<one>{colors}),? or (?:is it )?(?P<two>{colors})']
    yield 'shape', [rf'{kind} is {thing}', rf"what(?: is|'s) the shape of {thing}",
                    rf'what shape does {thing} have', rf'can you tell me the shape of {thing}',
                    rf'is {thing} an? (?P<one>{shapes}),? or (?:is it )?an? (?P<two>{shapes})',
                    rf'what form (?:has|is) {thing}', rf'what form does {thing} have', rf'shape (?:of )?{thing}', rf'{thing} shape', rf'which shape has {thing}', rf'what shape {thing}']
    yield 'material', [rf"what(?: is|'s) {thing} made (?:out )?of", rf"what(?: is|'s) the material "
                       rf'of {thing}', r'(?:what|which) material is (?P<thing>.*?)(?: made of)?',
                       rf'is {thing} (?:metal or rubber|rubber or metal|shiny or matte|'
                       'matte or shiny)', rf'do you know what {thing} is made of',
                       r'material of (?P<thing>.*?), (?:metal or rubber|rubber or metal)', rf'material (?:of )?{thing}', rf'{thing} material', rf'what material {thing}',
                       rf'what kind of material is {thing}', rf'{thing} metal or rubber',
                       rf'is {thing} (?:shiny|metal|metallic|matte|dull|rubber|glossy|hard|soft),? or (?:is it )?(?:dull|matte|rubber|shiny|metal|metallic|glossy|hard|soft)',
                       rf'is {thing} (?:metal or is it rubber|rubber or is it metal)', rf'is {thing} (?:soft or hard|hard or soft|shiny or (?:kind of )?dull|dull or shiny|metallic or matte)', r'(?P<thing>.*?), (?:shiny or matte|rubber or metal)']
    yield 'size', [rf'(?:what|which) size is {thing}', rf'how (?:big|large) is {thing}',
                   rf'is {thing} (?:big|large|small|little|tiny),? or (?:is it )?(?:big|large|small|little|huge)', rf'{thing} is (?:big or small|small or big)',
                   rf"what(?: is|'s) the size of {thing}", r'size of (?P<thing>.*?), big or small', rf'size (?:of )?{thing}', rf'{thing} size',
                   r'(?P<thing>.*?), (?:big or small|small or big|big or little)', rf'{thing} big or small', rf'how big would you say {thing} is']


def with_attribute(make, attribute):
    return lambda reader, group=None, **found: make(reader, group=group, attribute=attribute, **found) if make is shared else (
        make(reader, attribute=attribute, **found))


def group_questions():
    group = rf'(?P<group>{TWO}they|those|them|these|the .*)'
    own = r"(?:what(?: is|'s) |and |what about )?(?P<group>their)"
    for attribute in ('color', 'shape', 'material', 'size'):
        yield attribute, [rf'{own} {attribute}']
        yield attribute, [rf'(?:(?:what are|and|state|list|name|tell me|give me) )?(?P<group>their) {attribute}s']
        yield attribute, [rf'(?:(?:what are|state|list|name|tell me|give me) the |and |which |what )?{attribute}s']
    yield 'color', [rf'what colou?rs? are {group}', rf'what are the colors of {group}', rf'(?:what|which) colors have {group}',
                    rf'(?:what|which) colors? do {group} have', rf'(?P<group>{TWO}they|those|them|these|the .*?), what color']
    yield 'shape', [rf'what shapes? are {group}', rf'(?:what|which) shapes? do {group} have', rf'(?:and )?what are {group}',
                    rf'(?:which|what kind of) (?:things|objects|shapes) are {group}', rf'(?P<group>{TWO}they|those|them|these|the .*?), what shape']
    yield 'material', [rf'what are {group} made of', rf'(?:what|which) material are {group}',
                       rf'what are {group} all made of',
                       rf'are {group} (?:metal or rubber|rubber or metal|shiny or matte)']
    yield 'size', [rf'how big are {group}', rf'what size are {group}', rf'are {group} big or small']


def short_questions():
    for attribute in ('color', 'shape', 'material', 'size'):
        yield attribute, rf"(?:what is |what's |tell me |and |what about |how about )?(?P<its>its) {attribute}"
        yield attribute, rf"(?:and|what about|how about) (?P<its>the) {attribute}"
    yield 'color', '(?:and )?(?:what|which) colou?r'
    yield 'shape', '(?:and )?(?:what|which) shape|what kind'
    yield 'material', '(?:and )?(?:what|which) material|what is it made of|made of what|metal or rubber|rubber or metal|shiny or matte'
    yield 'size', '(?:and )?(?:what|which) size|how big|big or small|small or big'


def short(attribute):
    def ask(reader, its=None):
        last = reader.turns[-1]
        if not its and (last.same or ((last.group or last.spoke) and not last.single)):
            return shared(reader, 'they', attribute)
        return value(reader, 'it', attribute)
    return ask


def which_shared(reader, attribute):
    """"are they the same color": "yes"; "which color is it"."""
    if not reader.turns[-1].same:
        raise Unread('it')
    return shared(reader, 'they', attribute)


def named(make):
    """For patterns that name the attribute in the group `a`."""
    def question(reader, a, **found):
        return make(reader, attribute=ATTRIBUTES[a], **found)
    return question


TWO = '(?:those|these) (?:two|2)|the (?:two|2)(?: of them)?|'
NUMBERS = dict(zip('two three four five six seven eight nine'.split(), '23456789'))
NUMBER = rf"(?P<number>\d+|{'|'.join(NUMBERS)})"
ONE_TO_NINE = NUMBER.replace('>', '>one|', 1)
A = r'(?P<a>colou?r|shape|material|size|stuff)'
B = A.replace('<a>', '<b>')
KIND = r'(?P<kind>.*?)'
HIDDEN = (r'(?:(?:partly|partially|a bit) )?(?:hidden|covered|blocked|hiding(?= behind))'
          r'(?: behind (?:something(?: else)?|anything))?')
THEM = r'(?P<group>them|those|these|the .*?)'
ANYTHING = '(?:is there (?:anything|something)|is anything|do you see anything|anything)'
BUT = '(?:besides|other than|apart from|except for|except|but|aside from)'
THOSE = '(?P<those>those(?: two)?|these(?: two)?|them)'
PLACE = (r'(?P<place>(?:further|farther|more|on|to|in)(?: to)?(?: the)? (?:left|right|front|back|away|forward)|'
         r'(?:closer|nearer)(?: to (?:us|you|me|the camera))?|further in front|behind|further from the '
         r'camera|more in the back)')
PART = (r'(?:(?:on|in|at|to) (?:the )?(?:very )?(?:left|right|front|back)(?: hand)?(?: (?:side|half|part))?(?: of (?:the )?(?:picture|table|image|scene))?|'
        r'in the (?:foreground|background)|up front)')
PREDICATE = r'(?:(?:made )?of |an? )?\w+'
GROUP = rf'(?P<group>{TWO}them|those|these|the .*?)'
WITHOUT = r'(?:besides|other than|apart from|except(?: for)?|aside from|but|excluding|leaving out|not counting|without(?: counting)?)'
NOUN = f"(?:{'|'.join(NOUNS + [w for w, (a, _) in VALUES.items() if a == 'shape'])})"
ALIKE = re.compile(rf"\b(?:the )?(?:other )?(?P<kind>(?:(?:{'|'.join(VALUES)}) )*{NOUN}) (?:with|that has|of) (?:the )?same {A} as "
                   rf"(?P<of>it|(?:that|this) {NOUN}|(?:the )?(?:only )?(?:(?:{'|'.join(VALUES)}) )*{NOUN}|that|this)\b")
NOT_FOLLOWED = r'(?! of)'
COLOR = f"(?:{'|'.join(w for w, (a, _) in VALUES.items() if a == 'color')})"
ADJECTIVE = f"(?:(?:made )?of )?(?:{'|'.join(w for w, (a, _) in VALUES.items() if a != 'shape')})"
OTHERS = (r'(?:the )?(?:others?|rest(?: of (?:them|those|these|the \w+))?|(?:remaining|other|last)(?: (?:one|1|ones|two|2|three|3|four|4|five|5|six|6))?|'
          r'(?:other|remaining) (?:(?:two|2|three|3) )?(?:cubes?|boxes|balls?|spheres?|cylinders?|cones?|things?|objects?))')
ABOUT = r'(?:and (?:what|how) about |what about |how about |and for |and |or )'
COUNTED = r'(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)'
SIZED = r'(?P<how>biggest|largest|smallest|littlest)'
FORMS = [
    (SURE, sure),
    # and, or, not, but
    (rf'(?:(?:which|what) (?:thing|object) is|(?P<what>what is)) {DIRECTION} (?P<thing>.*) (?P<how>and) {DIRECTION.replace("dir", "dir2")} (?P<other>.*)',
     lambda reader, what, **found: two_sides(reader, what=True, **found)),
    (rf'how many (?:(?:things|objects) )?(?:are )?(?:either )?{DIRECTION} (?P<thing>.*) (?P<how>and|or) {DIRECTION.replace("dir", "dir2")} (?P<other>.*)', two_sides),
    (rf'how many (?:(?:of the )?(?P<whole>(?!are )[^,]*?) )?(?:are )?(?:either |(?P<both>both ))?(?P<one>{PREDICATE}) (?P<how>or|and(?: also| not)?|but not) (?P<other>{PREDICATE})', either_kinds),
    (rf'(?:is that|are there) (?P<how>more|fewer|less) (?:of (?:those|them) )?than (?:the number of |there are |the )?(?P<kind>[^,]*)', than_that),
    (rf'(?:are |so )?(?P<how>all but)(?: 1| one) of {GROUP} (?:are )?(?P<value>{PREDICATE})(?:,? (?:right|correct))?', so_many),
    (rf'(?:are |is |so )?(?P<how>none|neither) of {GROUP} (?:are |is )?(?P<value>{PREDICATE})(?:,? (?:right|correct))?', so_many),
    (rf'(?:is|are) either of {GROUP} (?P<value>{PREDICATE})', any_of),
    (rf'how many (?:things |objects )?{WITHOUT} (?:the )?(?P<kind>[^,]*?) are (?P<value>(?!there|left){PREDICATE})', not_these),
    (rf'how many (?:things |objects )?are (?P<value>{PREDICATE}) {WITHOUT} (?:the )?(?P<kind>[^,]*)', not_these),
    (rf'(?:everything )?{WITHOUT} (?:the )?(?P<kind>[^,]*?),? how many (?:things |objects )?are (?P<value>(?!there|left|that){PREDICATE})', not_these),
    (rf'how many(?: things| objects)?,? (?:are there )?{WITHOUT} (?:the )?(?P<kind>[^,]*?)(?: are (?:there|left))?', not_these),
    (rf'(?:everything )?{WITHOUT} (?:the )?(?P<kind>[^,]*?),? how many(?: things| objects)?(?: are (?:there|left|that))?', not_these),
    (rf'(?:and )?(?:{WITHOUT}|if you leave out) (?:the )?(?P<kind>[^,]*)', without_these),
    (r'can you see (?:the whole|all) of (?P<thing>.*)|is (?P<thing2>.*) (?:completely|fully|entirely) visible', lambda reader, thing, thing2: whole(reader, thing or thing2)),
    (r'(?:in )?(?:which|what) (?:part|area) of the (?:picture|image) is (?P<thing>.*?)(?: in)?|what is the position of (?P<thing2>.*)',
     lambda reader, thing, thing2: where(reader, thing or thing2)),
    (r'what does (?P<thing>.*) look like|how does (?P<thing2>.*) look', lambda reader, thing, thing2: what(reader, thing or thing2)),
    (r'(?:is (?P<that>that|this) an? )?(?P<kind>[^,]*)', opening),
    # parts of the picture
    (rf'(?:is there|is|do you see|can you see|does it have|it has)? ?(?:anything|something|an object|a thing) (?P<part>{PART})', part_exist),
    (rf'(?:is there|are there|do you see|can you see)(?: an?| any| some)? (?P<kind>[^,]*?) (?P<part>{PART})', part_exist),
    (rf'(?:any|an?) (?P<kind>[^,]*?) (?P<part>{PART})', part_exist),
    (rf'(?:how many|number of) (?P<kind>[^,]*?) (?:are there |are |do you see )?(?P<part>{PART})', part_count),
    (rf'how many (?:are |are there |do you see )?(?P<part>{PART})', part_count),
    (rf'(?P<part>{PART}),? how many (?P<kind>[^,]*?)(?: are there| do you see)?', part_count),
    (rf'(?:what|which) (?:things|objects|all) (?:are|is|do you see) (?P<part>{PART})|what are the (?:things|objects) (?P<part2>{PART})|what all is (?P<part3>{PART})',
     lambda reader, part, part2, part3: part_what(reader, part or part2 or part3)),
    (rf'(?:are there |do you see |is there )?more (?:(?P<kind>[^,]*?) )?(?P<one>{PART}) or (?P<other>(?:on |in |at )?(?:the )?(?:left|right|front|back)(?: side| half)?)',
     lambda reader, kind, one, other: more_parts(reader, one, other, kind or 'things')),
    (r'where are (?:there )?more (?P<kind>[^,]*?),? (?P<one>(?:on |in |at )?(?:the )?(?:left|right|front|back)) or (?P<other>(?:on |in |at )?(?:the )?(?:left|right|front|back))',
     more_parts),
    (r'(?:on )?(?:which|what) side (?:are there|has|are) (?:there )?more (?P<kind>[^,]*?)(?: on)?', lambda reader, kind: more_parts(reader, 'left', 'right', kind)),
    (rf'{ABOUT}?(?P<part>{PART})', part_again),
    # sums and differences
    (r"(?:and |so )?(?:how many (?:is|are|makes) (?:that|those|they|these|it)(?: (?:together|in total|total|altogether|in all|in sum))?|(?:and |so )?(?:together|in total|altogether|in sum|in all)|"
     r"total|(?:and )?how many (?:together|in total|altogether|of both|are both|in all|total)|(?:and |so )?(?:what is |what's )?(?:the |that )?(?:sum|total)|are they both together|both together|"
     r"(?:and )?(?:the )?(?:sum|total)|makes how many|so (?:that's |that is )?how many(?: (?:in total|together))?|(?:that's|that is) how many(?: in total| together)?|what is (?:that|it) together|all together|(?:so )?that makes|"
     r"what is the (?:sum|total)|add them(?: up| together)?)", together),
    (r"(?:and |so )?(?:how many more|by how many|by how much|how much more|how many (?:more|fewer) (?:exactly|are there|of (?:them|those|these))|what is the difference|the difference)(?: exactly)?(?: are there)?",
     how_many_more),
    (r'(?:how many )?(?:are |is )?(?P<one>[^,]*?) plus (?P<other>[^,]*)|(?:what is )?the sum of (?P<one2>[^,]*) and (?P<other2>[^,]*)|sum of (?P<one3>[^,]*) and (?P<other3>[^,]*)',
     lambda reader, one, one2, one3, other, other2, other3: plus(reader, one or one2 or one3, other or other2 or other3)),
    (r'(?:how many )?(?:are |is )?(?P<one>[^,]*?) minus (?P<other>[^,]*)', lambda reader, one, other: number_difference(reader, one, other, 'minus')),
    (r'(?:what is )?(?:the )?difference (?:between|of) the numbers? of (?P<one>[^,]*?) and (?:the number )?(?:of )?(?P<other>[^,]*)', number_difference),
    # the rest
    (r"(?:and )?(?:so )?(?:what else(?: is (?:there|on (?:the|it) ?(?:table)?|in (?:the picture|it|there)|here))?|what else (?:do|can) you see|what other (?:things|objects) (?:are there|do you see)|"
     r"so what else is there|what else is on the table|what else does it have|(?:and )?which others|and what else is in (?:it|the picture))", what_else),
    (rf'{ABOUT}?(?P<text>{OTHERS})', the_others),
    (r'(?:same for|is (?:that|it) (?:so|the same) for|and is that so for|are|and|and what about|what about|how about|and are)? ?(?P<group>the [^,]*?)(?: too| also)?', all_again),
    (r'(?:any )?(?P<value>(?:(?:made )?of )?\w+) stuff', exist_value),
    # the same again
    (rf'(?:{ABOUT})?(?P<value>{ADJECTIVE})(?P<plural>(?: ones)?)', ones_again),
    (rf'(?:and )?how many (?:the )?(?P<value>{ADJECTIVE})(?P<plural>(?: ones)?)', lambda reader, value, plural: ones_again(reader, value, plural, 'how many')),
    (rf'(?:{ABOUT})?(?:any |are there any |are there )(?P<value>{ADJECTIVE})(?P<plural> ones)', lambda reader, value, plural: ones_again(reader, value, plural, 'any')),
    (rf'(?:{ABOUT})?(?:the )(?P<value>{ADJECTIVE})(?P<plural> ones)', ones_again),
    (rf'(?:{ABOUT})?an? (?P<value>{ADJECTIVE})(?P<plural> (?:one|1))', ones_again),
    (rf'(?P<value>{ADJECTIVE})(?P<plural> (?:one|1))', ones_again),
    (rf'(?:{ABOUT})?(?P<value>{ADJECTIVE}) ones', ones_of_those),
    (rf'(?:and )?how many (?:the )?(?P<value>{ADJECTIVE}) ones', count_ones),
    (rf'(?:{ABOUT})?(?:the )?(?P<value>{ADJECTIVE})(?: ones| stuff| things)?', what_are_again),
    (rf'(?:{ABOUT})?(?P<value>{ADJECTIVE})', value_of_kind),
    (r'(?:and )?(?:then|the next(?: one| 1| thing| object)?|the (?:second|2nd)(?: one| 1| thing| object)?|what comes (?:next|then|after that)|what is (?:the )?next(?: one| 1| thing)?|next(?: one| 1)?|(?:and )?then what)(?: then)?',
     next_one),
    (rf'(?:{ABOUT})?(?:(?:what|which (?:one|thing|1)) is )?(?:the )?(?:(?:thing|one|1|object) )?(?P<place>[^,]*?)(?: (?:one|1|thing|object))?', place_again),
    (rf'(?P<thing>(?P<kind>(?!is )(?:\w+ )?\w+) (?:that is |which is )?(?:just |right |directly )?{DIRECTION.replace("?P<dir>", "?:")} (?!.* or )[^,]*)', bare_relation),
    (r'(?:and |what about |how about |and for )?(?:the )?(?P<thing>.*)', bare_extreme),
    (r'(?:and |what about |how about |and for |and what about )?(?P<place>.*)', bare_place),
    # near
    (r'(?:is |does |it is )?(?P<thing>[^,]*?) (?:stand |sit )?(?:next to|near|close to|beside|by|closer to|nearer to)(?: to)? (?P<other>(?!what\b)(?!(?:us|you|me|the camera)\b)(?!.* than |.* or )[^,]*)', beside_each),
    (rf'what (?:is |does |do )?(?P<thing>(?!is\b|does\b|else\b|do\b|stands\b|lies\b|stand|lies|lying|sitting|sits|thing|object|would|can)[^,]*?) (?:stand(?:ing)? |sit(?:ting)? |located )?(?:just |right |directly )?{DIRECTION}', of_what),
    (rf'(?P<thing>[^,]*?) is {DIRECTION} what', of_what),
    (rf'{DIRECTION} what (?:is|does) (?P<thing>[^,]*?)(?: stand)?', of_what),
    (r'what is the neighbor of (?P<thing>.*)', lambda reader, thing: neighbour(reader, 'next to', thing)),
    (r'(?:of )?what is (?P<thing>.*) of|what (?P<thing2>.*) is of|(?:what|which) material is (?P<thing3>.*) of', lambda reader, thing, thing2, thing3: value(reader, thing or thing2 or thing3, 'material')),
    # how many
    (r'how many (?:things )?(?:are )?(?:either )?(?P<one>(?:(?:made )?of )?\w+) or (?P<other>(?:(?:made )?of )?\w+)', either_kinds),
    (r'how many (?:things|objects) are either (?P<one>(?:(?:made )?of )?\w+) or (?P<other>(?:(?:made )?of )?\w+)', either_kinds),
    (r'how many (?:things|objects) (?:are )?(?P<one>(?:(?:made )?of )?\w+) or (?P<other>(?:(?:made )?of )?\w+)', either_kinds),
    (r'how many (?:things |objects )?are not (?P<one>(?:of )?\w+) and not (?P<other>(?:of )?\w+)', lambda reader, one, other: neither(reader, one, other)),
    (rf'how many (?:things|objects)? ?(?:are there )?(?:that are |are )?(?:other than|besides|without|not counting|except(?: for)?|but|apart from|aside from) (?:the )?(?P<kind>[^,]*?)(?: are (?:there|left))?',
     not_these),
    (rf'(?:without|not counting|besides|except(?: for)?|apart from) (?:the )?(?P<kind>[^,]*?),? how many (?:things |objects )?(?:are there|are left|remain)?', not_these),
    (rf'(?:how many (?:things|objects)? ?(?:are )?|number of )non (?P<kind>[^,]*?)(?: are there)?|non (?P<kind2>[^,]*), how many',
     lambda reader, kind, kind2: not_these(reader, kind or kind2)),
    (r'how many (?:(?P<kind>[^,]*?),? )?(?:are )?not (?!counting)(?P<value>(?:(?:made )?of )?\w+)', lambda reader, kind, value: count_not(reader, kind and 'the ' + kind, value)),
    (rf'everything but (?:the )?(?P<kind>[^,]*?),? how many (?:are there|is that)', not_these),
    (rf'(?:(?:are there|is it|do you see|is there|have you got)(?: exactly)? )?{COUNTED} (?:or|and) {COUNTED} (?P<kind>[^,]*)', two_numbers),
    (rf'(?:(?:are there|is it|do you see|is there) )?{COUNTED} (?P<kind>[^,]*?) or (?:is it )?{COUNTED}', two_numbers),
    (rf'(?:so |is it |is that |are there |there are |true or false,? there (?:is|are) |i count |i see |there is |is there )*(?P<number>{COUNTED}) (?P<kind>[^,]*?)(?: in total| total| altogether| present)?(?:,? (?:right|correct|yes|true|true or false|true or not|is it))?',
     lambda reader, number, kind: counted_right(reader, number, kind)),
    (r'how many(?: different)? colors (?:do (?P<group>the [^,]*) have|are (?P<group2>the [^,]*)|are there among (?P<group3>the [^,]*))|how many of (?P<group4>the [^,]*?) are (?:different )?colors',
     lambda reader, group, group2, group3, group4: colors_of(reader, group or group2 or group3 or group4)),
    (r'(?:the )?(?:number|no) of (?P<kind>[^,]*)|total (?P<kind2>[^,]*)|how many total (?P<kind3>[^,]*)|(?P<kind4>[^,]*?) in the picture,? how many',
     lambda reader, kind, kind2, kind3, kind4: count(reader, kind or kind2 or kind3 or kind4)),
    (r'(?:and )?how many(?: (?:things|objects))?(?: are there)?(?: in total| total| altogether| in all| in sum| overall)|total|total count|total number|the total number|how many are here(?: altogether| in total)?|altogether|in total|what is the total|the total|count everything|count all|count them all',
     lambda reader: count(reader, 'things')),
    # all of a kind
    (r'(?:list|name|(?:which|what)(?= .* (?:are there|do you see)))(?: all)?(?: the)? (?P<kind>[^,]*?)(?: are there| do you see)?', their_colors),
    (r"(?:(?:what|which) (?:are )?|and the |and |list |list the |all |all the |name the |name all the |describe the |tell me the |what are (?:all )?the )?(?:the )?(?P<names>(?:different |kinds of )?(?:colors|shapes|materials))(?: please)?",
     of_all_or_those),
    (r"(?:what|which)(?: are)?(?: all)?(?: the)? (?P<names>(?:different |kinds of )?(?:colors|shapes|materials))(?: are (?:there|in it|in there|here|present|shown|used|visible|in the picture|on the table)| do you see| are in there| occurs?| does (?:it|the picture) (?:have|contain|show))?",
     there_are_these),
    (r'(?:is|are) (?:that|those|these|they) (?:all|all of (?:them|it|those|the colors|the shapes|the materials)|all the (?:colors|shapes|materials))|(?:so )?(?:only|just) (?:those|these|that|them)|(?:so )?nothing else|no others?|no more|no other (?:colors|shapes|materials|things)|(?:is that|that is) (?:it|all)', that_is_all),
    (r'(?:is there |are there )?(?:anything else|any others?|any more|more|any (?:other|more) (?:shapes?|colors?|materials?|ones?|things?))', lambda reader: more_than_listed(reader)),
    (r'(?:which|what)(?: of the (?:four|4) shapes| shape| shape of the four| kind of shape)? (?:is missing|is not there|is absent|is not in the picture|is there none of|is there no\w* of|does not occur|isn\'t there|is not here|misses)', missing),
    (rf'(?:(?:(?P<which>which(?: one| 1)?)|what|who|which thing|which object) is )?(?:the )?{SIZED}(?: (?P<kind>one|1|thing|object|item|shape))?', bare_biggest),
    (r'is (?:that|it) the only (?P<kind>[^,]*?)(?: there| here)?', those_only),
    (r'are (?:all (?:of )?)?(?P<group>the (?:others|rest|other ones|remaining ones)) (?:all )?(?P<value>(?:an? |(?:made )?of )?\w+)', others_all),
    (r'(?:and |for |and for )?(?P<thing>(?:the )?[^,]*)', noun_again),
    (r"what is hiding|what's hiding", lambda reader: which_hidden(reader)),
    # claims and sides
    (rf"(?:or |and |so |then )?(?:is it |it is |is that |it )?(?:then )?(?P<side>(?:(?:to|on) (?:the )?)?(?:left|right)(?: of it)?|behind(?: it)?|in front(?: of it)?|in (?:the )?back(?: of it)?|in the front)(?: then)?", side_now),
    # other attributes, and other things
    (r'(?:(?:no|sorry|ok),? |not (?:the|its|their) \w+,? |i (?:mean|meant|asked (?:for|about)) |what about (?=its|the))+(?:but )?(?:the|its|their) (?P<a>color|shape|size|material)', None),
    (r'(?:no,? |sorry,? )(?:what|which) (?P<a>color|shape|size|material)', None),
    (r"(?P<thing>(?:the|it|that|this)\b[^,]*?|[^,]*?), (?P<a>color|shape|size|material)", None),
    (r'(?:find|show me|give me|point to|name|describe|tell me)(?: me)? (?:something|anything|one thing|a thing) (?:that is )?(?P<value>(?:(?:made )?of )?\w+)|(?:find|give me|show me|point to|name)(?: me)? (?:an?|one|1|the) (?P<value2>[^,]*)|'
     r'(?:who|which (?:(?P<one>one|1)|thing|object)) is (?P<value3>(?:(?:made )?of )?\w+)', None),
]


def corrected(reader, a):
    last = reader.turns[-1]
    if not (last.value or last.verify or last.single):
        raise Unread(a)
    return attribute_again(reader, a)


def more_than_listed(reader):
    if not reader.turns[-1].listed:
        raise Unread('listed')
    reader.reference = True
    return yes_or_no(False, lambda answer: answer == "no, that's all")


def counted_right(reader, number, kind):
    n = NUMBERS.get(number, '1' if number == 'one' else number)
    return globals()['number'](reader, kind, None, n)


def find_such(reader, value, value2, value3, one=None):
    if value3:
        said = value_of(value3)
        if not said or len(reader.scene.find(dict([said]))) != 1:
            raise Unread(value3)
        try:
            among = reader.group('them')
        except Unclear:
            among = frozenset()
        reader.turn.spoke, reader.turn.pair = None, None
        if one and len(reader.scene.find(dict([said]), among)) == 1:
            return which_of(reader, f'is {value3}')
    return one_such(reader, value or value2 or value3)


FORMS = [(pattern, make or (find_such if 'value3' in pattern else (lambda reader, thing, a: value(reader, thing, a)) if '<thing>' in pattern else corrected))
         for pattern, make in FORMS]


QUESTIONS = list(chain(
    FORMS,
    [(r"what is the table made of|what time.*|is it day or night|what is the weather like|how is the weather|is it sunny|"
      r"where was this taken|where is this|who took.*|who made this|who do .*|how old are these things|how heavy are they|"
      r"what does it smell like|what is inside|what room is this|how many (?:centimeters|inches|cm) .*|how (?:tall|wide|heavy) .* "
      r"exactly|how much (?:does it|do they) .*|what is it used for|why are they there|what are they for|do you like .*|what is your "
      r"favorite color|how far away are they|what is behind the camera|when was this taken|what happened here|is it (?:warm|cold)",
      of_the_picture(r"i can't tell|can't tell|i don't know", False)),
     (r"(?:what is|what's|what do you see|what can you see)(?: in the (?:picture|image)| on the "
      r"table)?|what is this(?: a picture of)?|(?:describe|tell me about) the (?:picture|image|scene)|"
      r"(?:list|describe|tell me) (?:everything|all (?:you see|you can see|the objects))|(?:what|which) (?:objects|things) (?:are there|can you "
      r"see|do you see)|what does the (?:picture|image) show|what is going on here",
      what_there_is),
     (r"what (?:color|colour) is the (?:table|background|floor|ground)|what(?: is|'s) the color of "
      r"the (?:table|background)", of_the_picture("gray|it's gray")),
     (r'what are (?:they|the things|the objects)(?: standing)? on|what do they stand on',
      of_the_picture('a table|on a table', False)),
     (r'where are (?:they|the (?:things|objects))', of_the_picture('on a table', False)),
     (r'(?:is there|do you see|can you see) (?:a|the) table(?: in the picture)?|is the table gray|'
      r'is the background (?:plain|gray)|is this a table',
      of_the_picture('yes|yep|yeah|yes, (?:there|it) is')),
     (r'is the (?:picture|image|photo) in color|is this a color picture',
      of_the_picture('yes|yep|yeah|yes, it is', False)),
     (r'(?:are there|do you see|can you see|are there any|do you see any|can you see any) shadows',
      of_the_picture('yes|yep|yeah|yes, there are')),
     (r'(?:are there any|do you see any) (?:objects|things|shapes|blocks)|is there anything on the '
      r'table|are there (?:objects|things|blocks) on the table',
      of_the_picture('yes|yep|yeah|yes, there (?:is|are)')),
     (r'are (?:they|the (?:things|objects)) on (?:a|the) table',
      of_the_picture('yes|yep|yeah|yes, they are', False)),
     (r'(?:is there anybody|is there anyone|is anyone|is anybody|do you see anyone|can you see '
      r'anyone).*|is it (?:raining|snowing|outside)|(?:can|do) you see the (?:sky|sun)|is the '
      r'(?:sky|sun) visible|is this (?:outside|outdoors|a photo of a room|a painting)|is the (?:picture|image|photo) (?:blurry|dark|'
      r'black and white)|are they (?:floating|moving|alive)|(?:is there anything|do '
      r'you see anything|is anything) (?:pink|brown|gray|gold|silver|transparent|striped|broken|'
      r'alive|moving|square and pink)',
      lambda reader: yes_or_no(False, lambda answer: answer == 'no, just blocks'))],

    [(rf'(?:do any(?: two)?(?: of the)? (?:things|objects) (?:have the same|share a|match in)|are any(?: two)?(?: things| objects)?'
      rf'(?: of)? the same|does anything match in|are there (?:two|2) (?:things|objects) (?:of |with )?the same) {A}',
      named(lambda reader, attribute: any_alike(reader, [attribute]))),
     (r'are any(?: two)? (?:things|objects) (?:identical|exactly (?:the same|alike))|are any (?:two|2)(?: of them)? (?:identical|'
      r'the same|alike)|are there (?:any|two|2) identical (?:things|objects)|do any two (?:things|objects) look (?:exactly )?the '
      r'same|any (?:identical|matching) (?:things|objects)',
      lambda reader: any_alike(reader, ['color', 'shape', 'material', 'size'])),
     (r"(?:which|what)(?: (?:thing|object|one|1))?(?: of (?P<group>them|those|these|the .*?))? (?:is the odd (?:one|1) out|(?:does "
      r"not|doesn't) (?:belong|fit in)|is (?:the )?different(?: from the (?:others|rest))?|is (?:not like|unlike) the others|"
      r"stands out)", odd_one),
     (r'describe the odd (?:one|1) out', odd_one),
     (rf'(?:is (?:anything|something)|are any (?:of the )?(?:things|objects)|is any (?:thing|object)) {HIDDEN}|does (?:anything|any '
      r'object) (?:hide|block) (?:another (?:one|1|object)|something else)|do any (?:things|objects) overlap', any_hidden),
     (rf"(?:which (?:thing|object|one|1) is|what is) {HIDDEN}|what's (?:{HIDDEN}|hiding)|which (?:thing|object) is not completely "
      r'visible', which_hidden),
     (r"(?:what is|what's|which (?:thing|object|one|1) is)(?: partly| partially| a bit)? (?:hiding|covering|blocking) (?P<thing>.*)",
      hider),
     (r'what (?:hides|covers|blocks) (?P<thing>.*)|what is (?P<thing2>.*?) (?:hidden|hiding) behind',
      lambda reader, thing, thing2: hider(reader, thing or thing2)),
     (r'does (?:something|anything) (?:hide|cover|block) (?P<thing>.*)|is (?P<thing2>.*?) (?:(?:partly|partially|a bit) )?(?:hidden|covered) by '
      r'(?:something|anything)', lambda reader, thing, thing2: hidden(reader, thing or thing2)),
     (rf'which(?: (?:one|1))? of (?P<group>them|those|these|the .*?) (?:has (?:another|a different) {A}(?: than the others)?|(?:differs|is different|is the odd (?:one|1) '
      rf'out) in {B})', lambda reader, group, a, b: odd_attribute(reader, group, ATTRIBUTES[(a or b).replace('colour', 'color')])),
     (rf'is (?:something|anything) (?:hiding|covering|blocking) (?P<thing>.*)|is (?P<thing2>.*?) {HIDDEN}',
      lambda reader, thing, thing2: hidden(reader, thing or thing2)),
     (r'(?!(?:metal|rubber) or (?:metal|rubber)$)(?:is there|what is there more of,?|is it mostly)? ?(?:more )?(?P<one>metal|rubber) or (?:more )?(?P<other>metal|rubber)',
      lambda reader, one, other: which_more(reader, one + ' things', other + ' things')),
     (r'(?:is )?(?P<thing>.*) (?:(?:bigger|larger),? (?:smaller )?or (?:smaller|the same size)|smaller or (?:bigger|larger)) '
      r'(?:than|as) (?P<other>.*)', which_extent),
     (r'is (?P<thing>.*) bigger than (?P<other>.*) or smaller', which_extent),
     (r'how big is (?P<thing>.*) compared (?:to|with) (?P<other>.*)', which_extent),
     (r'compared to (?P<other>.*?),? is (?P<thing>(?:(?! is ).)*) bigger or smaller', which_extent),
     (r'(?:is )?(?:an? |any )?(?P<kind>.*) present', exist),
     (r'count (?:all )?(?:the )?(?P<kind>.*?)(?: for me)?|can you count (?:all )?(?:the )?(?P<kind2>.*)',
      lambda reader, kind, kind2: count(reader, kind or kind2)),
     (rf'(?:what about|and) their {A}(?:,? (?:also )?the same| too)', named(lambda reader, attribute: same(reader, 'they', attribute))),
     (rf'do (?P<group>{TWO}they|those|the .*?) (?:all |also )?match in {A}', named(same)),
     (r'what do (?:we|you) have more of, (?P<one>.*) or (?P<other>.*)|do (?:we have|you see) more (?P<one2>.*) or (?P<other2>.*)',
      lambda reader, one, other, one2, other2: which_more(reader, one or one2, other or other2)),
     (rf'do (?P<group>{TWO}they|those) differ in (?P<a>\w+) or (?:only )?in (?P<b>\w+)',
      lambda reader, group, a, b: aspect(reader, True, group)),
     (r'do (?P<thing>.*) and (?P<other>.*) differ in (?P<a>\w+) or (?:only )?in (?P<b>\w+)',
      lambda reader, thing, other, a, b: aspect(reader, True, None, thing, other)),
     (rf'(?:which|what) {A} (?:(?:occurs|appears|is there|do you see) (?P<times>only once|(?:exactly )?twice)|'
      r'(?:does|do) (?P<number>only (?:one|1)|exactly two)(?: things?| objects?)?)(?: (?:of|among) (?P<group>them|those|these|the .*?))?(?: have)?',
      named(occurs)),
     (r'position of (?P<thing>.*) relative to (?P<other>[^,]*?),? (?P<sides>left or right)', side_of),
     (r'where do (?:we|you|i) find (?P<thing>.*)', where),
     (r'(?:is there )?another (?:one|1) of those', another_one),
     (r'(?:(?:apart from|besides|other than) the (?P<one>.*?) and (?:the )?(?P<other>[^,]*?),? what (?:else is|is) there|'
      r'what is there (?:besides|apart from|other than) (?:the )?(?P<one2>.*?) and (?:the )?(?P<other2>.*))',
      lambda reader, one, other, one2, other2: neither_is(reader, one or one2, other or other2)),
     (rf"(?P<what>(?:what is|what's|what lies|what stands|what sits|which (?:thing|object) is) )?(?:in )?between (?P<group>{TWO}them|those|the (?:two|2) .*)",
      lambda reader, what, group: between_two(reader, group, 'what')),
     (rf'(?:is there anything|is anything|anything) (?:in )?between (?P<group>{TWO}them|those|the (?:two|2) .*)',
      lambda reader, group: between_two(reader, group)),
     (r'(?P<dir>is) (?P<thing>.*) (?:further|farther) from (?:us|you|me|the viewer|the camera) than (?P<other>.*)',
      lambda reader, dir, thing, other: pair(reader, thing, other, 'behind')),
     (r'is (?P<thing>.*) closer to the viewer than (?P<other>.*)', pair),
     (r'(?:which|what) (?P<kind>[^,]*?) (?P<says>is(?:n\'t| not)? [^,]*)', which_such),
     (r"what else is (?P<value>(?:(?:made )?of )?\w+)|and what else is (?P<value2>(?:(?:made )?of )?\w+)|(?:which|what) other (?:things|objects) are "
      r'(?P<value3>(?:(?:made )?of )?\w+)|what other (?P<kind>.*) are there',
      lambda reader, value, value2, value3, kind: what_are(reader, value or value2 or value3, kind, True)),
     (r'(?:is )?(?:one|1)(?: of (?P<group>them|those(?: two| 2)?|these(?: two| 2)?|the two|the 2))?(?: is)? (?P<value>(?:an? |(?:made )?of )?\w+) '
      r'and (?:the other|one|1) (?P<other>(?:an? |(?:made )?of )?\w+)(?:,? (?:right|correct))?', one_each),
     (r"(?P<how_many>how many)? ?(?:which )?aren't so", not_so),
     (rf'what(?: else)? (?:is there|is on the table|do you see) {BUT} (?:the )?(?P<kind>.*)', what_besides),
     (r'(?:and |so )?(?:what else (?:is|has)|(?:what|which) other (?:things?|objects?) (?:has|have|are|is)) (?:that|the same) color',
      that_color),
     (r"(?:what is|what's|(?:which|what) (?:things|objects|ones) are) (?P<value>(?:(?:made )?of )?\w+)", what_are),
     (r'what are (?:all )?the (?P<kind>.*)|which (?P<kind2>.*) are there|what (?P<kind3>.*) do you see',
      lambda reader, kind, kind2, kind3: what_are(reader, None, kind or kind2 or kind3)),
     (r'which ones(?: are they)?|what are those', which_ones),
     (r"which (?:one|1)(?: is (?:it|that))?|what's that|and what is it|what is that (?:one|1)", lambda reader: which_ones(reader, True)),
     (r'is (?:one|1|any) of (?P<group>them|those|these|the .*) (?P<how>bigger|smaller)(?: than the (?:others|other ones|rest))?', one_differs),
     (r'(?:which(?: (?:thing|object|one|1|solid))?|what) is (?:neither (?P<one>.*) nor|not (?P<one2>.*) or) (?P<other>.*)',
      lambda reader, one, one2, other: neither_is(reader, one or one2, other)),
     (r'(?:what is the weight of|what is inside|what does|how heavy is|how old is|who (?:made|owns)|how far away is) (?P<thing>.*?)'
      r'(?: smell like)?|what is (?P<thing2>.*) for|how much does (?P<thing3>.*) (?:weigh|cost)|how tall is '
      r'(?P<thing4>.*) in (?:centimeters|inches|cm)',
      lambda reader, thing, thing2, thing3, thing4: untold(reader, thing or thing2 or thing3 or thing4)),
     (r'how many (?:(?:things |objects )?are )(?:neither (?P<one>.*) nor|not (?P<one2>.*) or) (?P<other>.*)',
      lambda reader, one, one2, other: neither(reader, one or one2, other)),
     (r'(?:do any(?: two)? of (?P<group>them|those|these) have|are any(?: two)? of (?P<group2>them|those|these)) the same '
      r'(?P<attribute>color|shape)', lambda reader, group, group2, attribute: any_two(reader, group or group2, attribute)),
     (rf'(?:which|what) (?P<kind>.*?) is (?:just |right )?{DIRECTION} (?P<thing>[^,]*)', neighbour_of),
     (r'how many (?P<how>more|fewer) (?P<one>.*?)(?: are there)? than (?P<other>.*?)(?: are there)?', count_difference),
     (r'how many (?P<one>\w+) (?:or|and) (?P<other>\w+) (?P<rest>things|objects) are there', count_both),
     (r'how many (?:things )?are (?:either )?(?P<one>\w+) or (?P<other>\w+)', count_both),
     (r'(?:how many|number of) (?P<one>.*?) (?:and|or) (?P<other>.*?)(?: are there)?(?: in total| together| '
      r'altogether)?', count_both),
     (r'(?P<one>.*?) and (?P<other>.*?), how many', count_both),
     (r"how many (?:of the )?(?P<kind>.*?) (?:are there that )?are(?P<count>n't| not) (?P<value>(?:(?:made )?of )?\w+)",
      such_not),
     (r"is there (?:any|an?) (?P<kind>.*?) (?:that )?(?:is not|isn't|not) (?P<value>(?:an? |(?:made )?of )?\w+)", such_not),
     (r'(?:only |exactly )?' + ONE_TO_NINE + r' of (?P<group>them|those|these) (?:is|are) (?P<value>(?:an? |(?:made )?of )?\w+),? (?:right|correct)', said_number),
     (r'(?:is (?=only|just|exactly)|are )(?:only |just |exactly )?' + ONE_TO_NINE + r' of (?P<group>them|those|these) (?P<value>(?:an? |(?:made )?of )?\w+)', said_number),
     (r'(?:(?:which|what)(?: (?:one|1))? is )?(?P<says>(?:the )?(?:biggest|largest|smallest|furthest (?:to the )?(?:left|right|away|back)|(?:left|right)most|(?:closest|nearest)'
      r'(?: to (?:us|me|the camera))?|farthest(?: away)?(?: from (?:us|me|the camera))?)), (?P<one>the [^,]*?), (?P<two>the [^,]*?) or (?P<three>the .*)', which_three),
     (r'(?:(?:which|what)(?: (?:one|1))? is )?(?P<says>(?:the )?(?:biggest|largest|smallest|furthest (?:to the )?(?:left|right|away|back)|(?:left|right)most|(?:closest|nearest)'
      r'(?: to (?:us|me|the camera))?|farthest(?: away)?(?: from (?:us|me|the camera))?)), (?P<one>[^,]*), (?P<two>[^,]*?) or (?P<three>[^,]*)', which_three),
     (r'which of (?P<one>[^,]*), (?P<two>[^,]*?) and (?P<three>[^,]*?) is (?P<says>(?:the )?(?:biggest|largest|smallest|furthest (?:to the )?(?:left|right|away|back)|(?:left|right)most|'
      r'(?:closest|nearest)(?: to (?:us|me|the camera))?|farthest(?: away)?(?: from (?:us|me|the camera))?))', which_three),
     (r'which of (?P<one>the [^,]*?),? (?P<two>the [^,]*?),? and (?P<three>the [^,]*?) is (?P<says>(?:the )?(?:biggest|largest|smallest|furthest (?:to the )?(?:left|right|away|back)|(?:left|right)most|'
      r'(?:closest|nearest)(?: to (?:us|me|the camera))?|farthest(?: away)?(?: from (?:us|me|the camera))?))', which_three),
     (r"(?P<count>number of) (?P<kind>.*?) that (?:are not|aren't) (?P<value>(?:(?:made )?of )?\w+)", such_not),
     (r"(?:are there |do you see )?any (?:of the )?(?P<kind>.*?) that (?:are not|aren't) (?P<value>(?:(?:made )?of )?\w+)",
      such_not),
     (rf"(?:{ANYTHING}|are there any (?:things|objects)) (?:(?:that|which) (?:isn't|is not) |not )(?P<value>(?:an? |(?:made )?of )?\w+)",
      lambda reader, value: such_not(reader, 'thing', value)),
     (r'are any (?:of the )?(?P<kind>.*?) not (?P<value>(?:(?:made )?of )?\w+)', such_not),
     (r'(?:are there|do you see) (?P<how>more than|at least|fewer than|less than|at most|no more than|not more than) ' + NUMBER + ' (?P<kind>.*)',
      lambda reader, kind, how, number: bound(reader, kind, how, NUMBERS.get(number, number))),
     (r"(?P<what>(?:what is|what's|what lies|what stands|which (?:thing|object) is) between|of) (?P<thing>.*?) and (?P<other>[^,]*)",
      lambda reader, what, thing, other: between(reader, thing, other, 'what')),
     (r'(?:is there anything|is anything|do you see anything|anything|is there something) between (?P<thing>.*) '
      r'and (?P<other>.*)', between),
     (r'(?:(?:which|which (?:one|1)|what) is )?(?:closer|nearer) to (?!(?:us|you|me|the camera)\b)(?P<to>.*?),? '
      r'(?P<thing>the .*) or (?P<other>.*)', nearer),
     (r'is (?P<to>.*) (?:closer|nearer) to (?P<thing>.*) or (?:to )?(?P<other>.*)', nearer),
     (r'is (?P<thing>.*) or (?P<other>.*) (?:closer|nearer) to (?!(?:us|you|me|the camera)$)(?P<to>.*)', nearer),
     (r'which of (?P<thing>.*) and (?P<other>.*) is (?:closer|nearer) to (?!(?:us|you|me|the camera)$)(?P<to>.*)',
      nearer),
     (r"(?:what is|what's) (?:the difference between|different about) (?P<group>"
      rf"{TWO}them|those|these)|how (?:are|do) "
      rf'(?P<group2>{TWO}they|those) (?:different|differ)|(?P<group3>what is the difference)',
      lambda reader, group, group2, group3: aspect(reader, True, group or group2 or 'they')),
     (rf'what do (?P<group>{TWO}they|those) (?:have in common|share)|what is the same about (?P<group2>{TWO}them|those|these)',
      lambda reader, group, group2: aspect(reader, False, group or group2)),
     (r"(?:what is|what's) (?:the difference|different) between (?P<thing>.*) and (?P<other>.*)",
      lambda reader, thing, other: aspect(reader, True, None, thing, other)),
     (r'how (?:is (?P<thing>.*) different|does (?P<thing2>.*) differ) from (?P<other>.*)',
      lambda reader, thing, thing2, other: aspect(reader, True, None, thing or thing2, other)),
     (r'what (?:do (?P<thing>.*) and|does (?P<thing2>.*) have in common with) (?P<other>.*?)(?: have in common| share)?',
      lambda reader, thing, thing2, other: aspect(reader, False, None, thing or thing2, other)),
     (r"(?:what is |what's |which (?:thing|object) is )?(?:to|on) its (?P<side>left|right)", beside_it(neighbour)),
     (r'(?:is there anything|is anything|anything|do you see anything) (?:to|on) its (?P<side>left|right)',
      beside_it(anything)),
     (r"(?:are there any |any )?(?P<value>\w+) ones|is there (?:one|1) that is (?P<value2>\w+)",
      lambda reader, value, value2: any_ones(reader, value or value2)),
     (r'is (?P<thing>.*) the only (?P<kind>.*?)(?: there| on the table)?', only)],

    [(r'how many', count_said), (r'and how many|how many (?:are there|do you see|of (?:them|those|these)(?: are there)?)',
                                 count_said),
     (r'how many (?:are there)' + HERE, count_all),
     (r'(?:and )?how many of (?:them|those|these) (?:would you say )?are '
      r'(?P<value>(?:(?:made )?of |an? )?\w+)', count_said),
     (r'(?:of (?:them|those|these), |and of (?:them|those|these), )how many are (?P<value>(?:(?:made )?of |an? )?\w+)', count_said),
     (r'(?:and )?how many are (?P<value>(?:(?:made )?of |an? )?\w+)', lambda reader, value: count_said(reader, None, value)),
     (r'how many (?:other (?:things|objects) are there|others are there|more (?:things|objects) are '
      r'there besides (?:them|those|these))', count_others),
     (r'how many different (?P<what>colou?rs|shapes) (?:are there|do you see)|'
      r'(?P<what2>how many colors (?:are there|do you see|can you see))|'
      r'(?P<what3>how many kinds of (?:shapes|things|objects) are there)',
      lambda reader, what, what2, what3: count_distinct(reader, what or what2 or what3)),
     (rf'how many {KIND} (?:are(?: there)?|do you see) {DIRECTION} (?P<thing>.*)', count_toward),
     (r'how many (?P<kind>.*?) (?:are there )?among (?P<group>them|those|these)', count_among),
     (r'of (?P<group>them|those|these),? how many (?P<kind>[^,]*)', count_among),
     (rf'how many of {THEM} are(?: not|n\'t) (?P<value>(?:(?:made )?of )?\w+)', count_not),
     (r'(?:and )?how many are(?: not|n\'t) (?P<value>(?:(?:made )?of |an? )?\w+)',
      lambda reader, value: count_not(reader, None, value)),
     (r'how many(?: things| objects)? (?:are there |are |have )?(?:made |of |in )*that(?: color| shape| size| '
      r'material| stuff)?', lambda reader: that_value(reader)),
     (rf'(?P<how_many>how many) other (?P<kind>.*?) are there {BUT} {THOSE}', besides_those),
     (rf'(?P<how_many>how many) (?:other )?(?P<kind>.*?) are there {BUT} (?P<thing>.*)', besides),
     (r'(?P<how_many>how many) (?:others|more)(?: (?:are there|of (?:them|those) are there))?',
      another_one), (r'(?P<how_many>how many) other (?P<kind>.*) are there', another_one),
     (rf'how many other (?:things|objects) (?:have|are) the same {A} as (?P<thing>.*)',
      named(lambda reader, thing, attribute: anything_else(reader, thing, attribute, True))),
     (r'how many other (?P<kind>.*) (?:are there|do you see)|how many more (?P<more>.*) are there',
      lambda reader, kind, more: another(reader, kind or more, True)),
     (rf'how many {KIND}(?: (?:are there|do you see|can you (?:see|count|find|spot)|are visible|are '
      rf'there|are|altogether|in total))?{HERE}', count),
     (rf'(?:what number of|what is the (?:total )?number of|count the|can you count the|(?:state the )?(?:total )?'
      rf"number of|what's the number of|total|amount of|tell me how many) {KIND}(?: there are| are there)?", count),
     (rf'{KIND} (?:count|in total)', count),
     (rf'{KIND}, how many', count),
     (rf'how much {KIND}(?: are there)?', count),
     (r'how many (?P<value>(?:(?:made )?of )?\w+)', lambda reader, value: count_said(reader, None, value)),
     (rf'how many (?:of the )?{KIND} (?:would you say )?are (?P<value>(?:(?:made )?of |an? )?\w+)', count),
     (r'(?:and how many|how many|and|what about|how about) (?:the )?(?P<kind>.*?)(?: then)?', count_again),
     (r'(?P<kind>.*?)(?: then)?', count_again)],

    [(r'(?:(?:are there )?(?:any other|more) (?:things|objects)|(?:is there |do you see )?anything else)(?: on the table| here| in the picture| '
      r'there)?', lambda reader: any_other(reader)),
     (r'what else (?:is there|do you see|can you see|is (?:on the table|in the picture))|what other (?:things|objects) are there|'
      r'anything else, what', lambda reader: any_other(reader, True)),
     (rf'(?:are there|do you see)? ?(?:any other|any more|other|any) (?P<kind>.*?) {BUT} {THOSE}', besides_those),
     (rf'(?:is there |is |does )?anything else (?:the same|that|of the same|with the same|in the same|of that|with that|in that|'
      rf'(?:have|share) (?:its|the same|that)) {A}', named(else_of_it)),
     (rf'(?:how many (?:others|other (?:things|objects)) (?:have|share|are) (?:that|its|the same) {A}|others of the same '
      rf'{B},? how many)', lambda reader, a, b: anything_else(reader, 'it', ATTRIBUTES[(a or b).replace('colour', 'color')], True)),
     (rf'is there another (?:thing|object) (?:of|with) the same {A}', named(else_of_it)),
     (r'(?:is there |is |does )?anything else (?:made of|of|with|in|have|share)? ?(?:the same|that|its)(?: stuff| material)?',
      lambda reader: else_of_it(reader, 'material')),
     (r"(?:any other|is there another) (?:thing|object) that(?: is|'s| 's) (?P<value>.*)", else_value),
     (r'(?:are there )?any (?P<kind>.*) among (?P<group>them|those|these)', any_among),
     (r'which (?:of the )?(?P<kind>.*?) is (?P<how>bigger|smaller|littler|larger|taller|shorter),? (?P<thing>the .*) or '
      r'(?P<other>the .*)', of_kind(lambda *a, **k: choice(*a, **k))),
     (r'which (?:of the )?(?P<kind>.*?) is (?P<value>(?:(?:made )?of )?\w+),? (?P<thing>the .*) or (?P<other>the .*)',
      of_kind(which_two)),
     (rf'which (?:of the )?(?P<kind>.*?) is {PLACE},? (?P<thing>the .*) or (?P<other>the .*)',
      of_kind(which_place)),
     (r'(?:is there |is )?anything else (?:that is )?(?P<value>(?:(?:made )?of )?\w+)', else_value),
     (r'(?:is there|do you see)? ?(?:another(?: one| 1)?|1 more|one more|a second (?:one|1|.*)|more than '
      r'(?:one|1)|another (?P<kind>.*))', another_one),
     (r'(?:are there |is there )?(?:any more|any others|others|more of (?:them|those)|any more of (?:them|those)|'
      r'any (?:other|more) (?P<kind>.*))', another_one),
     (r'(?P<only>is (?:that|it) the only (?:one|1|(?P<kind>.*))|(?:only|just) the (?:one|1))', another_one),
     (r'(?:is there|are there|do you see|can you see)? ?(?:another|any other|any|other) (?P<kind>.*?) '
      rf'{BUT} (?P<thing>.*)', besides),
     (rf'(?:which|what) (?:{A}) (?:is|comes up|shows up|appears|occurs|do you see|is there) (?:the )?'
      r'(?:most|(?P<least>least|rarest))(?: (?:common|frequent|often|frequently|of))?', named(most)),
     (rf"(?:what(?: is|'s) the )?(?:most|(?P<least>least)) (?:common|frequent) {A}", named(most)),
     (rf'what {A} are most of (?:the (?:things|objects)|(?P<group>them|those|these|the .*))', named(most)),
     (rf'what {A} do most (?:of the )?(?:things|objects) have', named(most)),
     (r'what are most of (?P<group>them|those|these|the .*) made of',
      lambda reader, group: most(reader, 'material', group)),
     (rf'are (?:most|the majority|more than half) of {THEM} (?P<value>(?:(?:made )?of )?\w+)', mostly),
     (r"(?:what|which) (?:are|is) there more of, (?P<one>.*) or (?P<other>.*)|(?:what's|what is) more, (?P<one2>.*) or (?P<other2>.*)",
      lambda reader, one, other, one2, other2: which_more(reader, one or one2, other or other2)),
     (r'(?:(?:is it |are they )?mostly|more) (?P<one>.*) or (?P<other>.*)', which_more),
     (r'(?P<one>.*) or (?P<other>.*?), which (?:are there )?more(?: of)?', which_more),
     (rf"(?:(?:which is|which one is|which 1 is|what is|what's|which of (?:the|those|these) two is) )?(?:the )?"
      rf'(?P<how>bigger|larger|taller|smaller|littler|shorter)(?: one| 1)?, (?P<thing>.*) or (?P<other>.*)', choice),
     (r'(?:which(?: is|(?: one| 1) is| of (?:the|those|these) two is)?|what is) (?P<value>(?:(?:made )?of )?\w+), (?P<thing>.*) or '
      r'(?P<other>.*)', which_two),
     (rf'of (?P<thing>.*) and (?P<other>.*?),? which (?:one |1 )?is {PLACE}', which_place),
     (r'(?:of (?P<thing>.*) and (?P<other>.*?), which (?:one |1 )?|which of (?P<thing2>.*) and '
      r'(?P<other2>.*) )is (?P<value>.*)',
      lambda reader, thing, other, thing2, other2, value:
      (choice(reader, thing, other, value) if value in ('bigger', 'larger', 'taller', 'smaller', 'shorter', 'littler') else
       which_two(reader, thing or thing2, other or other2, value))),
     (r'is (?P<thing>.*?) or (?P<other>.*?) (?P<value>(?:(?:made )?of )?\w+)', which_two),
     (rf'(?:(?:which(?: is|(?: one| 1) is| of (?:the|those|these) two is)|what is) )?{PLACE}, (?P<thing>.*) or (?P<other>.*)',
      which_place),
     (rf'is (?P<thing>.*?) or (?P<other>.*?) {PLACE}', which_place),
     (rf'(?:and )?which (?:one |1 )?(?:of|from) (?P<group>{TWO}them|those|these|the .*?) (?P<says>is.*)', which_of),
     (r'which(?: one| 1)? (?P<says>is[^,]*)', which_of),
     (rf'are (?P<one>.*) and (?P<other>.*) the same {A}',
      named(lambda reader, one, other, attribute: same_as(reader, one, other, attribute))),
     (rf'are there (?P<how>more|fewer|less) (?P<one>.*) than (?P<other>.*)', more_than),
     (rf'do you see (?P<how>more) (?P<one>.*) than (?P<other>.*)', more_than),
     (rf'are there (?P<how>as many) (?P<one>.*) as (?P<other>.*)', more_than),
     (rf'are there (?P<how>the same number of|equally many) (?P<one>.*) and (?P<other>.*)',
      more_than),
     (r'are there more (?P<one>.*) or (?:more )?(?P<other>.*)', which_more),
     (rf'is anything else the same {A} as (?P<thing>.*)', named(anything_else)),
     (rf'is there anything else with the same {A} as (?P<thing>.*)', named(anything_else)),
     (rf'is there another (?:thing|object) of the same {A} as (?P<thing>.*)', named(anything_else)),
     (rf'does anything else have the same {A} as (?P<thing>.*)', named(anything_else)),
     (r'(?:is there another|are there any (?:other|more)|are there more|do you see another|any '
      r'(?:other|more)|another|is there (?:1|one) more|is there a further) (?P<kind>.*)', another),
     (r'(?:is )?(?P<thing>(?:the|it|that|this).*?) (?:is )?an? (?P<value>\w+) (?:thing|object|item|shape)', verify),
     (rf'(?:which (?P<kind>.*?)|what(?: else)?) (?:has|is)(?: made)?(?: of)? the same {A} as (?P<thing>.*)', named(which_same)),
     (rf'which (?P<kind>.*?) (?:has|is)(?: made)?(?: of)? the same {A}', named(which_same)),
     (rf'(?:which (?P<kind>.*?)|what(?: else)?) (?:matches|goes with) (?P<thing>.*) in {A}', named(which_same)),
     (rf'(?:which (?P<kind>.*?)|what(?: else)?) shares the {A} of (?P<thing>.*)', named(which_same)),
     (rf'(?:is there|do you see) an? (?P<kind>.*?) (?:of|in|with) the same {A} as (?P<thing>.*)', named(some_same)),
     (rf'(?:(?:is there|do you see) an?|any) (?P<kind>.*?) (?:of|in|with) (?:the|that) same {A}', named(some_same)),
     (r'(?:(?:is|are) there|do you see|can you see|any|both)(?: both)? (?P<one>\w+(?: \w+)?(?: \w+)?) and (?P<other>\w+(?: \w+)?(?: '
      r'\w+)?)', both_kinds),
     (r'(?:is there )?(?:anything|any color) other than (?P<one>.*) and (?P<other>.*)|are there any other (?:shapes|colors) (?:than|besides|apart from) '
      r'(?P<one2>.*) and (?P<other2>.*)',
      lambda reader, one, other, one2, other2: opposite(only_kinds(reader, as_kind(one or one2), as_kind(other or other2)))),
     (r'(?:are there )?(?:so )?(?:only|just|nothing but) (?P<one>\w+(?: \w+)?)(?: and (?P<other>\w+(?: \w+)?))??(?:,? (?:right|correct|then))?', only_kinds),
     (r'is (?P<thing>.*?) the (?:thing |one |1 )?(?P<place>(?:leftmost|rightmost|closest|nearest|farthest|furthest)(?: to the)?(?: left| right)?)'
      r'(?: (?:thing|object|one|1))?(?: to (?:us|the camera|me)| away| back)?', is_extreme),
     (r'(?:is )?(?P<thing>.*?) (?:in )?between (?P<one>.*) and (?P<other>.*)', is_between),
     (rf'(?:are (?P<group>{TWO}they|those|the .*?)|do (?P<group2>{TWO}they|those|the .*?)) (?:(?:have |of )?different|(?:have )?different in|differ in) {A}s?',
      named(lambda reader, group, group2, attribute: differ(reader, group or group2, attribute))),
     (rf'(?:is )?(?:same|(?P<thing2>.*?) (?:(?:made )?of )?the same) {A} as (?:all )?the (?P<other>.*)',
      named(lambda reader, thing2, other, attribute: same_as_all(reader, thing2, other, attribute))),
     (rf'same {A} as the (?P<other>\w+(?: \w+)*), (?P<thing>.*)', named(lambda *a, **k: same_as_all(*a, **k))),
     (rf'does (?P<thing>.*) have the same {A} as the (?P<other>.*)', named(lambda *a, **k: same_as_all(*a, **k))),
     (rf'same {A} as (?P<other>.*)', named(lambda reader, other, attribute: same_as(reader, 'it', other, attribute))),
     (rf'(?:and )?is (?P<other>.*?) (?:also )?(?:of )?the same {A}(?: too)?|(?:does|has) (?P<other2>.*?) (?:have )?the same {A.replace("<a>", "<a2>")}|'
      rf'(?:and )?(?P<other3>.*?),? (?:the )?same {A.replace("<a>", "<a3>")}', lambda reader, other, other2, other3, a, a2, a3:
      same_as_it(reader, other or other2 or other3, ATTRIBUTES[a or a2 or a3])),
     (rf'is (?P<thing>.*?) (?:of )?the same {A} as (?P<other>.*)', named(same_as)),
     (rf'does (?P<thing>.*) have (?:the )?same {A} as (?P<other>.*)', named(same_as)),
     (rf'has (?P<thing>.*) the same {A} as (?P<other>.*)', named(same_as)),
     (rf'(?P<thing>.*) has the same {A} (?:as|like) (?P<other>.*)', named(same_as)),
     (rf'does (?P<thing>.*) have the {A} of (?P<other>.*)', named(same_as)),
     (rf'do (?P<thing>.*) and (?P<other>.*) share the same {A}', named(same_as)),
     (rf'(?P<thing>.*) and (?P<other>.*) the same {A}', named(same_as)),
     (rf'same {A}, (?P<thing>.*) or (?P<other>.*)', named(same_as)),
     (rf'same {A}, (?P<thing>.*) and (?P<other>.*)', named(same_as)),
     (rf'are (?P<thing>.*) and (?P<other>.*) the same {A}', named(same_as)),
     (rf'do (?P<thing>.*) and (?P<other>.*) have the same {A}', named(same_as)),
     (rf'is (?P<thing>.*) or (?P<other>.*) (?P<how>bigger|larger|taller|smaller|shorter|littler)', choice),
     (rf'{ANYTHING} (?P<how>bigger|larger|taller|smaller|shorter) than (?P<thing>.*)', any_compared),
     (rf'(?:is )?(?P<thing>.*) (?P<how>bigger|larger|taller|smaller|shorter) than (?:all )?the (?P<many>.*)', compare_all),
     (rf'(?:is )?(?P<thing>.*) (?P<how>bigger|larger|taller|smaller|shorter|littler) than (?P<other>.*)', compare),
     (rf'is everything(?: else)? {BUT} (?P<thing>.*?) (?P<value>(?:an? |(?:made )?of )?\w+)', the_rest),
     (rf'are all (?:the )?(?:things|objects) {BUT} (?P<thing>.*?) (?P<value>(?:(?:made )?of )?\w+)', the_rest),
     (r'is everything else (?P<value>(?:an? |(?:made )?of )?\w+)', the_rest),
     (r'are all the other (?:things|objects) (?P<value>(?:(?:made )?of )?\w+)', the_rest),
     (r'are (?P<others>all (?:of )?the others|the others all) (?P<value>(?:(?:made )?of )?\w+)', the_rest),
     (rf'{ANYTHING} (?:on top of|on|under|underneath|below|above|over|inside of|inside|in) (?P<thing>.*)',
      nothing_there)],

    [(rf'(?:i see|there are|i can see) (?:two|2) (?P<group>[^,]*), are they (?:both )?(?:of )?the same {A}', named(same)),
     (rf'(?:are|do) the (?:two|2) (?P<group>.*?) (?:of |have )?the same {A}', named(same)),
     (r'are (?P<group>they|those|the .*?) (?:all |both )?made of the same (?:stuff|material|thing)',
      lambda reader, group: same(reader, group, 'material')),
     (r'are both of (?P<group>them|those|these|the .*) made of the same (?:stuff|material)',
      lambda reader, group: same(reader, group, 'material')),
     (rf'is there (?P<how>more than (?:just )?(?:1|one)|(?:only|just) (?:1|one)|exactly 1|a single) '
      rf'(?P<kind>.*)', number),
     (rf'are there (?P<how>several|multiple|at least 2) (?P<kind>.*)', number),
     (r'(?:are there|do you see|are there exactly|are there just|are there only) ' + NUMBER + r' (?P<kind>.*)|there are '
      + NUMBER.replace('number', 'number2') + ' (?P<kind2>.*?),? (?:right|correct)',
      lambda reader, kind, number, kind2, number2: globals()['number'](
          reader, kind or kind2, None, NUMBERS.get(number or number2, number or number2))),
     (rf'(?:and )?are (?P<group>{TWO}they|those|the .*?) (?:all |both )?(?:of )?the same {A}', named(same)),
     (rf'do (?:all of )?(?P<group>{TWO}they|them|these|those|the .*?) (?:all |both )?(?:have|share) (?:the same|one|1) '
      rf'{A}', named(same)),
     (rf'(?:are )?all (?:of {THEM} )?(?:the )?same {A}', named(same)),
     (rf'(?:and )?(?:of )?(?:the )?same {A}(?: too)?', named(same)),
     (rf'and are (?:they|those) the same {A}', named(same)),
     (rf'(?:are|do) both of {THEM} (?:have |of )?the same {A}', named(same)),
     (r'are (?:they both|both of (?:them|those|these)) (?P<value>(?:(?:made )?of |an? )?\w+)',
      lambda reader, value: all_are(reader, 'they', value)),
     (r'(?:are )?all of (?P<group>them|those|these) (?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'is (?:each|every (?:one|1)) of (?:the )?(?P<group>them|those|these|\w+(?: \w+)*?) '
      r'(?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'are (?P<group>they|those(?: two| 2)?|these (?:two|2)|the (?:others|rest(?: of them)?|(?:other|remaining) \w+(?: \w+)?)) (?:all )?(?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'(?:are all (?:of )?the (?:things|objects)|is everything)'
      r'(?: on the table| in the picture)? (?P<value>(?:(?:made )?of |an? )?\w+)',
      lambda reader, value: all_are(reader, 'things', value)),
     (r'are all of the (?P<group>\w+(?: \w+)*?) (?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'(?:are )?all (?:of )?(?:the )?(?P<group>\w+(?: \w+)*?) (?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'are the (?P<group>.*) all (?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'is every (?:one|1) of the (?P<group>\w+(?: \w+)*?) (?P<value>(?:(?:made )?of |an? )?\w+)', all_are),
     (r'(?:are any|is any|is one|is 1|are some|is at least one|is at least 1|any) of '
      r'(?P<group>them|those|these) (?:also )?(?P<value>(?:(?:made )?of |an? )?\w+)(?: too)?', any_of)],

    [(r'what are (?:all )?the (?P<names3>(?:different |kinds of )?(?:colors|shapes|materials))|(?:(?:what|which) (?P<names>(?:different |kinds of )?(?:colors|shapes|materials)) (?:are there|do you see|can you see|'
      r'are (?:in the picture|on the table))|(?:list|describe) all the (?P<names2>(?:different |kinds of )?(?:colors|shapes|materials)))',
      lambda reader, names, names2, names3: all_the(reader, names or names2, names3))],

    ((pattern, with_attribute(shared, attribute))
     for attribute, patterns in group_questions() for pattern in patterns),

    [(rf'(?:and )?(?:what|which) (?:is|thing is|object is|do you see|do we see|can you see|is there) '
      rf'(?:just |directly |right )?{DIRECTION} (?P<thing>.*)', neighbour),
     (rf"(?:and )?(?:what's|what is|what|what (?:stands|sits|lies)|(?:what is|what's) the thing|what would be|which (?:one|1) "
      rf"is) (?:just |directly |right )?{DIRECTION} (?P<thing>.*)", neighbour),
     (rf'{DIRECTION} (?P<thing>.*)', neighbour),
     (rf'(?:is there anything|is anything|is there something|do you see anything|is there another '
      rf'object|is there an object) {DIRECTION} (?P<thing>.*)', anything),
     (rf'(?:is there|do you see|can you see) an? (?P<kind>[^,]*?) {DIRECTION} (?P<thing>.*)',
      anything),
     (rf'an? (?P<kind>[^,]*?) {DIRECTION} (?P<thing>.*)', anything),
     (rf'anything {DIRECTION} (?P<thing>.*)', anything),
     (rf'(?:is (?:something|anything)|anything) (?:hiding|hidden|standing) {DIRECTION} (?P<thing>.*)', anything),
     (rf'does anything (?:stand|sit|lie) {DIRECTION} (?P<thing>.*)', anything),
     (r'is (?P<thing>.*?) (?P<sides>(?:to |on )?(?:the )?(?:left|right) or (?:to |on )?(?:the )?(?:left|'
      r'right)|in front(?: of)? or behind|behind or in front)(?: of)? (?P<other>.*)', side_of),
     (r'where is (?P<thing>.*?),? (?P<sides>left or right|right or left) of (?P<other>.*)', side_of),
     (r'is (?P<thing>.*?) (?P<sides>(?:to the )?left|in front) of (?P<other>.*) or (?:to the )?(?:right of|behind) it', side_of),
     (r'is (?P<thing>.*?) (?P<sides>behind) (?P<other>.*) or in front of it', side_of),
     (r'(?P<sides>on which side) of (?P<other>.*) is (?P<thing>.*)', side_of),
     (r'(?P<sides>which side) of (?P<other>.*?) is (?P<thing>.*) on', side_of),
     (r'(?P<thing>.*) (?P<sides>left or right) of (?P<other>.*)', side_of),
     (r'(?P<thing>.*) (?P<sides>in front of or behind) (?P<other>.*)', side_of),
     (r'where is (?P<thing>.*?),? (?:on the )?(?:left|right) or (?:on )?(?:the )?(?:left|right)', which_side),
     (r'(?:and )?where(?: exactly)?', lambda reader: where(reader, 'it')),
     (r'(?:where is|where\'s|where (?:on the table|in the picture) is|where do you see|where can i find|'
      r'whereabouts is|where exactly is|where would i find|where) (?P<thing>.*)', where),
     (r'(?:is |where is )?(?P<thing>.*?),? (?:at |in |up )?(?:the )?(?:front|back) or (?:at |in )?(?:the )?(?:front|back)', which_row),
     (r'(?:is )?(?P<thing>.*) left or right', which_side),
     (r'which side is (?P<thing>.*) on', which_side),
     (r'is (?P<thing>.*) on the (?:left|right) or (?:on )?(?:the )?(?:left|right)', which_side),
     (r'is (?P<thing>.*) on the (?P<side>left|right)(?: side| hand side)?(?: of the (?:picture|table))?',
      on_side),
     (rf'(?:is |does |do you see )(?P<thing>.*?) (?:stand |sit )?{DIRECTION} (?P<other>.*)', pair),
     (r'is (?P<thing>.*?) (?P<dir>closer|nearer) (?:to (?:us|you|the camera) )?than (?P<other>.*)', pair),
     (r'is (?P<thing>.*?) (?P<dir>(?:further|farther|more) (?:to )?(?:the )?(?:left|right|away|back)) than '
      r'(?P<other>.*)', pair)],

    [(rf'(?:what|which) {A} is (?:it|that)', named(which_shared))],

    ((pattern, with_attribute(value, attribute))
     for attribute, patterns in attribute_questions() for pattern in patterns),
    ((pattern, short(attribute)) for attribute, pattern in short_questions()),
    [(re.sub(r'\(\?P<thing>\.\*\??\)', '(?:the )?(?P<kind>.*?)', pattern), no_such)
     for attribute, patterns in attribute_questions() for pattern in patterns],
    [(r"(?:where is|where's|where do you see|where exactly is) (?:the )?(?P<kind>.*?)", no_such)],

    [(r'what kind of (?:thing|object) is (?P<thing>.*)', what),
     (r"(?:what is|what's) (?P<thing>.*?)(?: exactly)?", what),
     (r'(?:can you describe|describe) (?P<thing>.*)', what),
     (r'tell me what (?P<thing>.*) is', what),
     (r'describe (?P<place>.*)', what_at),
     (r"(?:what is|what's|(?:which|what) (?:thing|object|one|1) is|what do you see|thing|object) (?P<place>.*)",
      what_at),
     (r'(?:and what about|and for|what about|and|how about|(?:no,? |sorry,? )?i (?:mean|meant)) (?P<thing>the .*)', value_again),
     (r'(?:and|what about|how about|or) an? (?P<kind>.*)', exist_again)],

    [(rf'(?:{EXISTS}) (?P<kind>.*?){HERE}', exist),
     (r'(?:is an?|are any) (?P<kind>.*?) (?:on the table|in the picture)', exist),
     (rf"(?:there's|there is|it has|there are)(?: also)?(?: an?)? (?P<kind>.*?){HERE}", exist),
     (rf'(?:is there anything|is anything|do you see anything|is there something|anything|can you '
      rf'see anything|is any of the (?:things|objects)|are any of the (?:objects|things)) (?P<value>.*?){HERE}',
      exist_value),
     (r'any (?P<value>.*) stuff', exist_value)],

    [(r'is the color of (?P<thing>.*) (?P<value>\w+)', verify),
     (r'(?:and what about|and is|and|what about|how about) (?P<thing>.*)', verify_again),
     (r'is (?P<thing>.*) too', verify_again),
     (r'(?:and )?is (?P<thing>.*?) (?:also )?(?P<value>(?:an? |(?:made )?of )?\w+)(?: too)?', verify),
     (r'and (?P<thing>.*?),? is it (?P<value>(?:an? |(?:made )?of )?\w+)', verify),
     (r'does (?P<thing>.*) look (?P<value>(?:(?:made )?of )?\w+)', verify),
     (r'would you say (?P<thing>.*) is (?P<value>(?:an? |(?:made )?of )?\w+)', verify),
     (r'(?:is )?(?P<thing>.*?) (?P<value>(?:an? |(?:made )?of )?\w+)', verify),
     (rf'(?P<thing>.*?) {DIRECTION} (?P<other>.*)', pair)],

    [(rf'(?:is there|do you see|can you see|are there|any|is)(?: an?| any)? (?P<thing>.*?)'
      rf'(?: in the picture| on the table| anywhere)?', absent),
     (r'(?P<how>how many) (?P<thing>.*) (?:are there|do you see|can you see|are in the picture)',
      absent),
     (r'(?P<thing>.*)', what_bare)]))


def read_caption(reader, caption):
    """Whether it says one thing, several or a number of things of a kind."""
    turn, scene = Turn(), reader.scene
    number = re.search(r'(?:(?:there are|with|of)(?: exactly)? |^)(\d+) (?:of the (?:things|objects) are '
                       r'(.*)|(.*?))(?: on (?:a|the) (?:gray )?table.*| on it)?$', caption)
    phrases = []
    words = caption.split()
    for i in range(len(words)):
        for j in range(len(words), i, -1):
            kind = kind_of(' '.join(words[i:j]))
            if kind and not phrases[-1:] == [(i - 1, j)]:
                if not any(a <= i < b for a, b in ((p[0], p[1]) for p in phrases)):
                    phrases.append((i, j, kind))
                break
    if number and int(number.group(1)) > 1:
        kind = kind_of((number.group(2) or number.group(3) or 'things').strip())
        turn.group = scene.find(kind or {})
    else:
        for _, _, kind in phrases:
            found = scene.find(kind)
            direction = [d for d, word in (('left', 'left'), ('right', 'right'),
                                           ('front', 'fore|front|closest'),
                                           ('behind', 'back|farthest')) if re.search(word, caption)]
            if len(found) > 1 and direction:
                found = {scene.extreme(direction[0], scene.all)}
            turn.single.append(frozenset(found) if len(found) == 1 else frozenset(found) | {-1})
        value = re.search(r'(?:1 of the (?:things|objects)(?: on the table)? is|1 of them(?: is)?) '
                          r'(.*)$', caption)
        if not phrases and value and value_of(value.group(1)):
            turn.single = [scene.find(dict([value_of(value.group(1))]))]
    reader.turns.append(turn)


def judge_dialog(scene, dialog, data, dense, report):
    reader = Reader(scene)
    read_caption(reader, dialog['caption'])
    before = None
    for number, entry in enumerate(dialog['dialog']):
        question = plain(without_echo(spelled(data['questions'][entry['question']].rstrip(' ?')), before))
        before = data['answers'][entry['answer']]
        answer = data['answers'][entry['answer']]
        reader.turn, reader.reference = Turn(), False
        verdict, why = 'right', ''
        try:
            judge = reader.read(question)
            true = [data['answers'][o] for o, relevance in
                    zip(entry['answer_options'], dense.get(number + 1, [])) if relevance == 1]
            bad = [a for a in true if not judge(a)]
            if not judge_once(reader, question, answer) or bad:
                verdict, why = 'wrong', f'{answer!r} {bad[:3]}'
        except Unclear as unclear:
            verdict, why = 'wrong', f'unclear: {unclear}'
        except Unread as unread:
            verdict, why = 'unread', str(unread)
            reader.mention({-1})
        if reader.turn.skip:
            report(dialog, number, question, answer, verdict, why, reader.reference)
            continue
        reader.turn.answer = answer
        reader.turns.append(reader.turn)
        report(dialog, number, question, answer, verdict, why, reader.reference)


def judge_once(reader, question, answer):
    """With what only the answer itself brings up."""
    reader.turn = Turn()
    return reader.read(question)(answer)


def main():
    learn_words()
    dialogs, dense, scenes = (json.load(open(name)) for name in sys.argv[1:4])
    show = int(sys.argv[5]) if len(sys.argv) > 5 else 20
    data, relevance, shown = dialogs['data'], {}, []
    for entry in dense:
        relevance.setdefault(entry['image_id'], {})[entry['round_id']] = entry['gt_relevance']
    seen = {scene['image_id']: scene for scene in scenes}
    tally = {}

    def report(dialog, number, question, answer, verdict, why, reference):
        tally[verdict, reference] = tally.get((verdict, reference), 0) + 1
        if verdict != 'right':
            said = [dialog['caption']] + [data['questions'][e['question']] + ' | ' +
                                          data['answers'][e['answer']]
                                          for e in dialog['dialog'][:number]]
            shown.append(f'{verdict}{" with reference" * reference}: image {dialog["image_id"]}: '
                         f'{" / ".join(said[-4:])} / {question} | {answer}: {why}')

    for dialog in data['dialogs']:
        judge_dialog(Scene(seen[dialog['image_id']]), dialog, data,
                     relevance.get(dialog['image_id'], {}), report)
    total = sum(tally.values())
    unread = sum(n for (verdict, _), n in tally.items() if verdict == 'unread')
    print(f'questions {total}, read {total - unread}, wrong {tally.get(("wrong", False), 0)}, with '
          f'reference {sum(n for (_, reference), n in tally.items() if reference)}, wrong '
          f'{tally.get(("wrong", True), 0)}')
    for line in shown[:show]:
        print(line)


if __name__ == '__main__':
    main()
