//! Word lists, and the list of everyday nouns that people make passwords from.

/// A list of words in the order of their first letters, with the position of each letter's words. The list is one
/// string, so that no pointers need relocation at start-up.
pub struct Lexicon {
    words: &'static [u8],
    starts: [usize; 27],
}

impl Lexicon {
    pub fn contains_word(&self, word: &[u8]) -> bool {
        let letter = match word.first().map(u8::to_ascii_lowercase) {
            Some(letter @ b'a'..=b'z') => usize::from(letter - b'a'),
            _ => return false,
        };
        self.words[self.starts[letter]..self.starts[letter + 1]]
            .split(|byte| *byte == b' ')
            .any(|known| word.eq_ignore_ascii_case(known))
    }
}

pub const fn build_lexicon(words: &'static str) -> Lexicon {
    let words = words.as_bytes();
    let mut starts = [words.len(); 27];
    let mut at = words.len();
    while at > 0 {
        at -= 1;
        if words[at] != b' ' && (at == 0 || words[at - 1] == b' ') {
            starts[(words[at] - b'a') as usize] = at;
        }
    }
    // The range of a letter without words is empty.
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        if starts[letter] > starts[letter + 1] {
            starts[letter] = starts[letter + 1];
        }
    }
    Lexicon { words, starts }
}

/// The maximum number of nouns in one word, as in `copperkettlemoon`.
const MAX_PARTS: usize = 4;

/// Returns the number of everyday nouns that `word` consists of; zero if it contains any other letters.
/// `copperkettle` has two.
pub fn count_everyday_nouns(word: &[u8]) -> usize {
    count_parts(word, MAX_PARTS).unwrap_or(0)
}

/// Returns the number of everyday nouns in a text such as `copper-kettle-42`. Any characters may join them.
pub fn everyday_words(text: &[u8]) -> usize {
    text.split(|byte| !byte.is_ascii_alphabetic()).map(count_everyday_nouns).sum()
}

fn count_parts(word: &[u8], most: usize) -> Option<usize> {
    if word.is_empty() {
        return Some(0);
    }
    if most == 0 {
        return None;
    }
    let lengths = (MIN_NOUN_BYTES..=word.len().min(MAX_NOUN_BYTES)).rev();
    lengths
        .filter(|length| EVERYDAY_NOUNS.contains_word(&word[..*length]))
        .find_map(|length| {
            let rest = &word[length..];
            let plural = rest.first().is_some_and(|byte| byte | 32 == b's');
            count_parts(rest, most - 1).or_else(|| plural.then(|| count_parts(&rest[1..], most - 1))?)
        })
        .map(|rest| rest + 1)
}

const MIN_NOUN_BYTES: usize = 3;
const MAX_NOUN_BYTES: usize = 12;

/// Nouns for nature, food, colours, places, household things and heroes. Words that are common in programs are not
/// included.
static EVERYDAY_NOUNS: Lexicon = build_lexicon(
    "\
    acorn albatross alder alligator almond alpaca amber amethyst amsterdam anchovy angel antelope antler apfel appel \
    apple apricot apron aqua armadillo arrowhead arsenal artichoke aspen aster athens aurora austin autumn avalanche \
    avocado azalea \
    baboon bacon badger bagel baker balloon balsam bamboo banana bandana bandit bangkok banjo barcelona barley barn \
    barrel baseball basil batman bayern beach beagle bear beaver bee beech beet beetle berg berlin berry bicycle \
    birch bird birne biscuit bison black blanket blaze blizzard bloem blossom blue blueberry blume boat bogota \
    bonfire bonsai boots boston bottle boulder bowl bracelet bramble brass brave bread breeze brick bright brisket \
    broccoli bronze brook broom brot brownie brussels budapest buffalo bunny burger burrito butter buttercup \
    butterfly \
    caballo cabbage cabin cactus cairo camel camp candle candy canoe canyon captain caramel caravan cardinal caribou \
    carpet carrot cashew castle cat caterpillar cavallo cavern cedar cello cerise cheddar cheese cheetah chelsea \
    cherry chestnut chicago chicken chien chili chimney chocolate chutney cider ciel cielo cinnamon citrus \
    clementine cliff clover coal cobalt cobra coconut coffee comet copper coral coriander corn cottage cotton cougar \
    coyote crab cranberry crane crayon cream cricket crimson crocodile crocus crow crown crystal cucumber cumin \
    cupcake curry cyclone \
    daffodil dahlia daisy dallas dance dancer dandelion dawn daybreak deer delhi denver desert diamond dingo dog \
    dolphin donkey donut dove dragon dragonfly drizzle drum dublin duck dumpling dune dusk \
    eagle ebony eclipse eel eggplant egret elbow elder elephant elk ember emerald estrella etoile evergreen \
    falafel falcon farmer fawn feather fennel fern ferret fiddle fiets finch fiore firefly fish fiume flame flamingo \
    flannel fleur flint flor florence flower fluffy flute fog football forest fossil fountain fox frodo frog fromage \
    frost fruit fudge fuzzy \
    galaxy gallop gandalf garden gardenia garlic garnet garten gato gatto gazelle gecko geneva geranium geyser \
    gibbon ginger giraffe glacier glade glass goat goblin gold golden goldfish goose gopher gorilla granite grape \
    grapefruit grass gravel green grey grizzly grove guacamole guava guitar gull \
    hail hamburg hammer hammock hamster hanoi happy harbor harbour hare harp harvest haus havana hawk hazel hazelnut \
    heart heather hedge hedgehog helmet helsinki hemel herbst hermit heron herring hibiscus hickory hill himmel \
    hippo hobbit hockey holly hond honey honeybee horizon hornet horse house hummingbird hummus hund hurricane \
    hyacinth hyena \
    ibis ice iceberg icicle igloo iguana impala indigo invierno iris iron island istanbul ivory ivy \
    jackal jacket jade jaguar jardin jasper jelly jellyfish jester jewel jigsaw jolly journey jungle juniper jupiter \
    juventus \
    kaas kaffee kangaroo katze kayak kebab kelp kestrel ketchup kettle king kirsche kitchen kite kitten kiwi knight \
    koala kyoto \
    lace ladder ladybug lagoon lake lakers lamb lamp lantern lapis larch lark lasagna laurel lava lavender leaf \
    leather leek lemon lemonade lemur lentil leopard lettuce lighthouse lightning lilac lily lima lime linen lion \
    lisbon liverpool lizard llama lobster locket london lotus lucky luna lunar lune lynx \
    macaw madrid magenta magic magma magnet magnolia magpie mahogany mammoth manatee mandolin mango manila manzana \
    maple maracas marble margarita marigold marina marlin maroon marsh marshmallow meadow meerkat mela melon mermaid \
    merry meteor midnight mighty milano mimosa minnow minstrel mint mirror mist mistletoe mitten mole molen mond \
    monkey monsoon monster montagne montana moon moonbeam moonlight moose morning mosaic moss moth mountain mouse \
    muffin mulberry mumbai munich mushroom music muskrat mussel mustang mustard \
    nacho nairobi napkin napoli narwhal nebula nectar nectarine needle neige nettle neve newt night nightfall \
    nightingale ninja noodle nougat nuage nube nutmeg nuvola \
    oak oasis oatmeal oboe ocean ocelot octopus oiseau olive onion onyx opal orange orca orchard orchid oregano \
    origami oriole osaka oslo osprey ostrich otter outlaw owl oyster \
    packers paddle painter pajaro paladin palm pancake panda panther papaya paprika parade paris parrot parsley \
    parsnip pasta pastry peach peacock peanut pear pearl pebble pecan pelican pencil penguin peony pepper peppermint \
    perro petal petunia pheasant piano pickle pigeon pikachu pilgrim pillow pine pineapple pink pirate pistachio \
    pizza planet platypus plum pocket pokemon polar pomme popcorn poplar poppy porcupine porto potato prairie \
    pretzel princess puffin pulley pumpkin puppy purple \
    quail quartz queen quiche quill quilt quince quokka \
    rabbit raccoon radish rain rainbow raindrop raisin ramen rapids raspberry raven red reef regen reindeer rhino \
    rhubarb ribbon rice riddle rider ridge river riviere robin rocket roma rose rosemary rotterdam rowan royal \
    saddle saffron sage sail sailor salad salamander salmon saloon salsa samurai sand sandal sandstone sandwich \
    sapphire sardine sashimi satchel satin saturn sausage savanna scarf scarlet schnee scorpion sea seagull seahorse \
    seal seashell seattle seoul sequoia sesame shadow shamrock shark sheep shimmer shiny shovel shrimp silk silly \
    silver singer skater skunk sky slate slipper sloth snail snake sneaker sneeuw snow snowball snowfall snowy \
    soccer sofa solar soleil sommer sonne sorcery sorrel soup spaniel sparkle sparrow spice spicy spider spiderman \
    spinach spoon spruce squash squid squirrel stallion star starfish starlight steel steelers stella stockholm \
    stone stork storm strawberry sugar summer summit sun sunbeam sunday sunflower sunny sunrise sunset sunshine \
    superman surf surfer sushi swallow swan sweater sweet sycamore sydney syrup \
    taco tangerine tango tapir tarragon tea teacup teapot tempest temple tennis thicket thimble thistle thorn \
    thunder thunderbolt thyme tiger timber toast toaster toffee tofu tokyo tomato topaz tornado toronto toucan \
    tractor trail treasure tree tricycle trolley trombone trout truffle trumpet tulip tulp tuna tundra turbo turkey \
    turnip turquoise turtle twilight \
    ukulele umbrella unicorn urchin \
    valley vanilla velvet venice ventana venus verano vienna viking vinegar viola violet violin vogel volcano voyage \
    vulture \
    waffle wagon wald walnut walrus wanderer warbler warsaw wasp water waterfall watermelon weasel whale wheat \
    whisker whisper white wild wildflower willow winter wisteria wizard wolf wolke wolverine wombat woodpecker wool \
    wren \
    yankees yarn yarrow yellow yogurt yonder yucca \
    zebra zenith zephyr zinnia zircon zomer zucchini zurich",
);
