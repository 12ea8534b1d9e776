//! Lists of words, and the list of everyday nouns that people make passwords from.

/// Words in the order of their first letters, and where each letter's begin. A list is one string, so that nothing is relocated at start.
pub struct Lexicon {
    words: &'static [u8],
    starts: [usize; 27],
}

impl Lexicon {
    pub fn holds(&self, word: &[u8]) -> bool {
        let letter = match word.first().map(u8::to_ascii_lowercase) {
            Some(letter @ b'a'..=b'z') => usize::from(letter - b'a'),
            _ => return false,
        };
        self.words[self.starts[letter]..self.starts[letter + 1]]
            .split(|byte| *byte == b' ')
            .any(|known| word.eq_ignore_ascii_case(known))
    }
}

pub const fn lexicon(words: &'static str) -> Lexicon {
    let words = words.as_bytes();
    let mut starts = [words.len(); 27];
    let mut at = words.len();
    while at > 0 {
        at -= 1;
        if words[at] != b' ' && (at == 0 || words[at - 1] == b' ') {
            starts[(words[at] - b'a') as usize] = at;
        }
    }
    // A letter without words begins where the next one does.
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        if starts[letter] > starts[letter + 1] {
            starts[letter] = starts[letter + 1];
        }
    }
    Lexicon { words, starts }
}

/// Most parts of one word: `copperkettlemoon`.
const MOST_PARTS: usize = 4;

/// Returns how many everyday nouns `word` consists of; zero if anything is left over. `copperkettle` has two.
pub fn everyday_parts(word: &[u8]) -> usize {
    parts(word, MOST_PARTS).unwrap_or(0)
}

fn parts(word: &[u8], most: usize) -> Option<usize> {
    if word.is_empty() {
        return Some(0);
    }
    if most == 0 {
        return None;
    }
    let lengths = (SHORTEST..=word.len().min(LONGEST)).rev();
    lengths
        .filter(|length| EVERYDAY.holds(&word[..*length]))
        .find_map(|length| {
            let rest = &word[length..];
            let plural = rest.first().is_some_and(|byte| byte | 32 == b's');
            parts(rest, most - 1).or_else(|| plural.then(|| parts(&rest[1..], most - 1))?)
        })
        .map(|rest| rest + 1)
}

const SHORTEST: usize = 3;
const LONGEST: usize = 12;

/// Nouns of nature, food, colours and things at home. Words that programs use are left out.
static EVERYDAY: Lexicon = lexicon(
    "\
    acorn albatross alder alligator almond alpaca amber amethyst anchovy angel antelope antler apple apricot apron \
    aqua armadillo arrowhead artichoke aspen aster aurora autumn avalanche avocado azalea \
    baboon bacon badger bagel balloon balsam bamboo banana bandana banjo barley barn barrel baseball basil beach \
    beagle bear beaver bee beech beet beetle berry bicycle birch bird biscuit bison black blanket blaze blizzard \
    blossom blue blueberry boat bonfire bottle boulder bramble brass bread breeze brick bright broccoli bronze brook \
    broom buffalo bunny burger burrito butter buttercup butterfly \
    cabbage cabin cactus camel camp candle candy canoe canyon captain caramel caravan cardinal caribou carrot cashew \
    castle cat caterpillar cedar cello cheddar cheese cheetah cherry chestnut chicken chili chimney chocolate cider \
    cinnamon citrus clementine cliff clover coal cobalt cobra coconut coffee comet copper coral coriander corn \
    cottage cotton cougar coyote crab cranberry crane crayon cream cricket crimson crocodile crocus crow crown \
    crystal cucumber cumin cupcake curry \
    daffodil dahlia daisy dance dandelion dawn deer desert diamond dingo dog dolphin donkey donut dove dragon \
    dragonfly drum duck dumpling dune dusk \
    eagle ebony eclipse eel eggplant egret elbow elder elephant elk ember emerald evergreen \
    falcon fawn feather fennel fern ferret fiddle finch firefly fish flame flamingo flannel flint flower flute fog \
    football forest fossil fountain fox frog frost fruit fudge \
    galaxy garden gardenia garlic garnet gazelle gecko geranium geyser gibbon ginger giraffe glacier glade glass \
    goat gold golden goldfish goose gopher gorilla granite grape grapefruit grass gravel green grey grizzly grove \
    guava guitar gull \
    hail hammer hammock hamster happy harbor harbour hare harp harvest hawk hazel hazelnut heart heather hedge \
    hedgehog helmet heron herring hibiscus hickory hill hippo hockey holly honey honeybee horizon hornet horse house \
    hummingbird hurricane hyacinth hyena \
    ibis ice iceberg icicle igloo iguana impala indigo iris iron island ivory ivy \
    jackal jacket jade jaguar jasper jelly jellyfish jewel jigsaw journey jungle juniper jupiter \
    kangaroo kayak kelp kestrel ketchup kettle king kitchen kite kitten kiwi knight koala \
    lace ladder ladybug lagoon lake lamb lamp lantern lapis larch lark laurel lava lavender leaf leather leek lemon \
    lemonade lemur lentil leopard lettuce lighthouse lightning lilac lily lime linen lion lizard llama lobster \
    locket lotus lucky lunar lynx \
    macaw magic magma magnet magnolia magpie mahogany mammoth manatee mandolin mango maple maracas marble margarita \
    marigold marina marlin maroon marsh marshmallow meadow meerkat melon mermaid meteor midnight mimosa minnow mint \
    mirror mist mistletoe mitten mole monkey monster moon moonlight moose morning mosaic moss moth mountain mouse \
    muffin mulberry mushroom music muskrat mussel mustang mustard \
    narwhal nebula nectar nectarine needle nettle newt night nightfall nightingale ninja noodle nougat nutmeg \
    oak oasis oatmeal oboe ocean ocelot octopus olive onion onyx opal orange orca orchard orchid oregano oriole \
    osprey ostrich otter owl oyster \
    paddle painter palm pancake panda panther papaya paprika parade parrot parsley parsnip pasta pastry peach \
    peacock peanut pear pearl pebble pecan pelican pencil penguin peony pepper peppermint petal petunia pheasant \
    piano pickle pigeon pillow pine pineapple pink pirate pistachio pizza planet platypus plum pocket polar popcorn \
    poplar poppy porcupine potato prairie pretzel princess puffin pumpkin puppy purple \
    quail quartz queen quiche quill quilt quince quokka \
    rabbit raccoon radish rain rainbow raindrop raisin raspberry raven red reef reindeer rhino rhubarb ribbon rice \
    ridge river robin rocket rose rosemary rowan royal \
    saddle saffron sage sail sailor salad salamander salmon sand sandal sandstone sandwich sapphire sardine satin \
    saturn sausage savanna scarf scarlet scorpion sea seagull seahorse seal seashell sequoia sesame shadow shamrock \
    shark sheep shimmer shrimp silk silver skunk sky slate sloth snail snake snow snowball snowfall snowy soccer \
    solar sorrel soup spaniel sparrow spice spicy spider spinach spoon spruce squash squid squirrel stallion star \
    starfish starlight steel stone stork storm strawberry sugar summer summit sun sunbeam sunday sunflower sunny \
    sunrise sunset sunshine surf swallow swan sweet sycamore syrup \
    taco tangerine tango tapir tarragon tea teacup teapot temple tennis thimble thistle thorn thunder thyme tiger \
    timber toast toaster toffee tofu tomato topaz toucan tractor trail treasure tree trombone trout truffle trumpet \
    tulip tuna tundra turbo turkey turnip turquoise turtle \
    ukulele umbrella unicorn urchin \
    valley vanilla velvet venus vinegar viola violet violin volcano vulture \
    waffle wagon walnut walrus warbler wasp water waterfall watermelon weasel whale wheat whisker whisper white wild \
    wildflower willow winter wisteria wizard wolf wolverine wombat woodpecker wool wren \
    yarn yarrow yellow yogurt yonder yucca \
    zebra zenith zephyr zinnia zircon zucchini",
);
