//! Word lists: the type that stores them, and the everyday nouns that people make passwords from.

/// A list of words sorted by first letter, with the position where each letter's words start. The list is one string,
/// so no pointers need relocation at start-up.
pub struct NounLexicon {
    words: &'static [u8],
    first_word_by_letter: [usize; 27],
    /// One bit for the hash of each word. The bits rule out almost every word that is not listed.
    hash_bits: [u64; LEXICON_HASH_SLOTS / 64],
}

const LEXICON_HASH_SLOTS: usize = 1 << 14;

/// Returns the slot of `word[start..end]` in `hash_bits`, ignoring case.
const fn slot_of_word(word: &[u8], start: usize, end: usize) -> usize {
    let mut hash = 0u32;
    let mut at = start;
    while at < end {
        hash = (hash ^ (word[at] | 32) as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

impl NounLexicon {
    pub fn contains_word(&self, word: &[u8]) -> bool {
        let letter = match word.first().map(u8::to_ascii_lowercase) {
            Some(letter @ b'a'..=b'z') => usize::from(letter - b'a'),
            _ => return false,
        };
        let slot = slot_of_word(word, 0, word.len());
        if self.hash_bits[slot >> 6] >> (slot & 63) & 1 == 0 {
            return false;
        }
        self.words[self.first_word_by_letter[letter]..self.first_word_by_letter[letter + 1]]
            .split(|byte| *byte == b' ')
            .any(|known| word.eq_ignore_ascii_case(known))
    }
}

pub const fn build_lexicon(words: &'static str) -> NounLexicon {
    let words = words.as_bytes();
    let mut starts = [words.len(); 27];
    let mut hash_bits = [0; LEXICON_HASH_SLOTS / 64];
    let (mut at, mut end) = (words.len(), words.len());
    while at > 0 {
        at -= 1;
        if words[at] == b' ' {
            end = at;
        } else if at == 0 || words[at - 1] == b' ' {
            starts[(words[at] - b'a') as usize] = at;
            let slot = slot_of_word(words, at, end);
            hash_bits[slot >> 6] |= 1 << (slot & 63);
        }
    }
    // If no word begins with a letter, the range of that letter is empty.
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        if starts[letter] > starts[letter + 1] {
            starts[letter] = starts[letter + 1];
        }
    }
    NounLexicon { words, first_word_by_letter: starts, hash_bits }
}

/// The maximum number of nouns in one word such as `copperkettlemoon`.
const MAX_NOUNS_PER_WORD: usize = 4;

/// Returns the number of everyday nouns that make up `word`, or zero if it contains anything else. For example,
/// `copperkettle` consists of two nouns.
pub fn count_everyday_nouns(word: &[u8]) -> usize {
    count_noun_parts(word, MAX_NOUNS_PER_WORD).unwrap_or(0)
}

/// Returns whether a word starts or ends with an everyday noun that is joined to another word, as in `noodleengine`.
pub fn joins_everyday_noun(word: &[u8]) -> bool {
    const MIN_PART_BYTES: usize = 5;
    (MIN_PART_BYTES..=MAX_EVERYDAY_NOUN_BYTES.min(word.len().saturating_sub(4))).any(|length| {
        EVERYDAY_NOUNS.contains_word(&word[..length])
            || EVERYDAY_NOUNS.contains_word(&word[word.len() - length..])
    })
}

/// Returns the number of everyday nouns in a string such as `copper-kettle-42`. Any characters other than letters may
/// separate the nouns.
pub fn count_nouns_in_text(text: &[u8]) -> usize {
    text.split(|byte| !byte.is_ascii_alphabetic()).map(count_everyday_nouns).sum()
}

fn count_noun_parts(word: &[u8], most: usize) -> Option<usize> {
    if word.is_empty() {
        return Some(0);
    }
    if most == 0 {
        return None;
    }
    let lengths = (MIN_NOUN_BYTES..=word.len().min(MAX_EVERYDAY_NOUN_BYTES)).rev();
    lengths
        .filter(|length| EVERYDAY_NOUNS.contains_word(&word[..*length]))
        .find_map(|length| {
            let rest = &word[length..];
            let plural = rest.first().is_some_and(|byte| byte | 32 == b's');
            count_noun_parts(rest, most - 1)
                .or_else(|| plural.then(|| count_noun_parts(&rest[1..], most - 1))?)
        })
        .map(|rest| rest + 1)
}

const MIN_NOUN_BYTES: usize = 3;
const MAX_EVERYDAY_NOUN_BYTES: usize = 12;

/// Nouns for nature, food, colours, places, household items and heroes. Words that are common in programs are left out.
static EVERYDAY_NOUNS: NounLexicon = build_lexicon(
    "\
    aardbei abacaxi acorn albatross alder alligator almond alpaca amber amethyst amsterdam anchor anchovy angel \
    antelope antler anvil apfel apfelbaum appel apple apricot apron aqua arancia arcobaleno armadillo arrowhead \
    arsenal artichoke aspen aster athens aurora austin autumn avalanche avocado azalea \
    baboon backpack bacon badger bagel bagpipe baker ballerina balloon balsam bamboo banana bandana bandit bangkok \
    banjo barcelona barley barn barnacle barrel baseball basil basket bathtub batman bayern beach beacon beagle bear \
    beaver bee beech beet beetle berg berlin berry bicycle birch bird birne biscuit bishop bison bizcocho black \
    blanket blaze blizzard bloem blossom blue bluebell blueberry bluebird blume boat bobbin bobcat bogota bonbon \
    bonfire bonnet bonsai bookshelf boots borboleta boston bottle boulder bowl bracelet bracken bramble brass brave \
    bread breeze brick bright brisket broccoli brombeere bronze brook broom broomstick brot brownie brussels buckle \
    budapest buffalo bumblebee bungalow bunny burger burrito butter buttercup butterfly buttermilk butterscotch \
    caballo cabbage cabin cachorro cactus cairo camel camp campfire canary candle candlestick candy cangrejo canoe \
    canyon captain caramel caranguejo caravan carbon cardamom cardinal caribou carpet carrot cashew castle cat \
    caterpillar cauliflower cavallo cavalo cavern cedar cello cenoura cerise cerisier chamomile chandelier chapeau \
    chaussette cheddar cheese cheetah chelsea cherry cherub chestnut chicago chicken chien chili chimney chipmunk \
    chocolate chutney cider ciel cielo cinder cinnamon citron citrus clarinet clementine cliff clockwork clover coal \
    cobalt cobblestone cobra cobweb coconut coffee comet compass copper coral corduroy coriander corn cornflower \
    cottage cotton cougar cowboy coyote crab cranberry crane crater crayfish crayon cream cricket crimson crocodile \
    crocus crow crown crumpet crystal cuckoo cucumber cumin cupboard cupcake currant curry custard cyclone \
    daffodil dagger dahlia daisy dallas dance dancer dandelion dawn daybreak deer delhi denim denver desert dewdrop \
    diamond dingo dinosaur dog dolphin donder donkey donner donut doodle doormat dove dragon dragonfly dragonfruit \
    drifter driftwood drizzle drum dublin duck dumpling dune dungeon dusk \
    eagle easel ebony eclipse eekhoorn eel eggplant egret eichhorn elbow elder elderberry elefante elephant elk \
    ember emerald erdbeere estrela estrella estuary etoile eucalyptus evergreen \
    fable falafel falcon fandango farfalla farmer fawn feather fennel fenster feral fern ferret ferry fiddle fiets \
    finch finestra fiore firefly fireside firewood fish fiume fjord flame flamingo flannel flapjack fleur flint flor \
    florence flower fluffy flute fog football forest fortress fossil fountain fox foxglove fragola framboise freckle \
    frodo frog fromage frost fruit fudge fuzzy \
    galaxy galleta gallop gandalf garden gardenia gargoyle garlic garnet garten gato gatto gazebo gazelle gecko \
    geneva geranium gewitter geyser gibbon gilded ginger gingerbread gingham giraffe girasol girasole girassol \
    glacier glade glass glimmer goat goblet goblin goggles gold golden goldenrod goldfinch goldfish gondola goose \
    gopher gorilla gorse granite grape grapefruit grass gravel gravity gravy green grenouille grey grizzly grove \
    guacamole guava guitar gull gumdrop \
    hail hailstone halibut hamburg hammer hammock hamster hanoi happy harbor harbour hare harp harvest haus havana \
    hawk haystack hazel hazelnut heart heath heather hedge hedgehog hedgerow helmet helsinki hemel hemlock herald \
    herbst hermit heron herring hibiscus hickory hill himmel hippo hobbit hockey hollow holly hond honey honeybee \
    honeycomb honeysuckle hopscotch horizon hornet horse house hummingbird hummus hund hurricane hyacinth hyena \
    ibis ice iceberg icicle igloo iguana impala indigo inkwell invierno iris iron island istanbul ivory ivy \
    jackal jackdaw jacket jackrabbit jade jaguar jalapeno janela jardin jasmine jasper jelly jellyfish jester jewel \
    jigsaw jolly journey jungle juniper jupiter juventus \
    kaas kaffee kaleidoscope kangaroo kartoffel katze kayak kazoo kebab kelp kestrel ketchup kettle king kingfisher \
    kirsche kitchen kite kitten kiwi knapsack knight koala kyoto \
    labyrinth lace ladder ladybug lagoon lake lakers lamb lamp lantern lapis laranja larch lark lasagna laurel lava \
    lavender leaf leather leek lemon lemonade lemur lentil leopard lettuce leuchtturm libellule lighthouse lightning \
    lilac lily lima lime limone linen lion lisbon liverpool lizard llama lobster locket lollipop london lonely lotus \
    lucky lullaby lumberjack luna lunar lune lynx \
    macaroni macaw mackerel madrid magenta magic magma magnet magnolia magpie mahogany mammoth manatee mandolin \
    mango manila mantle manzana maple maraca maracas marble margarita marigold marina marionette mariposa marlin \
    marmot maroon marsh marshmallow marzipan meadow meadowlark meerkat mela mellow melon meringue mermaid merry \
    meteor midnight mighty milano millstone mimosa minaret minnow minstrel mint mirror mist mistletoe mitten mittens \
    moccasin mockingbird mole molen mond monkey monsoon monster montagna montagne montana montanha moon moonbeam \
    moonlight moonrise moonstone moorland moose morango morning mosaic moss moth moulin mountain mouse muffin \
    mulberry mumbai munich mushroom music muskrat mussel mustang mustard \
    nacho nairobi napkin napoli naranja narwhal nashorn nebula nectar nectarine needle neige nettle neve newt nickel \
    night nightfall nightingale nightshade nimbus ninja noodle nougat nuage nube nutcracker nuthatch nutmeg nuvem \
    nuvola \
    oak oasis oatcake oatmeal oboe ocean ocelot october octopus oiseau oleander olive omelet onion onyx opal orange \
    orca orchard orchardist orchid oregano origami oriole osaka oslo osprey ostrich otter outlaw owl oyster \
    packers paddle paddock pagoda painter paisley pajaro paladin palm pancake panda panther papaya papillon paprika \
    parade parasol parchment parfait paris parrot parsley parsnip pasta pastry patchwork peach peacock peanut pear \
    pearl pebble pecan pelican pencil penguin peony peperone pepper peppercorn peppermint periwinkle perro persimmon \
    petal petunia phantom pheasant piano pickle pigeon pikachu pilgrim pillow pimiento pine pineapple pinecone pink \
    pinwheel pirate pistachio pizza planet plank plankton platypus plaza plum plumage pocket pokemon polar \
    pomegranate pomme pony popcorn poplar poppy porcupine porridge porto postcard potato prairie pretzel princess \
    pudding puffin pulley pumpkin puppy purple puzzle \
    quail quarry quartz queen quiche quicksand quicksilver quill quilt quince quiver quokka \
    rabbit raccoon radish rain rainbow raincloud raindrop rainstorm raisin ramen rapids raspberry rattlesnake raven \
    ravine ravioli red reef regen regenbogen regenboog reindeer rhino rhubarb ribbon rice rickshaw riddle rider \
    ridge river riverbank riverboat riviere robin rocket roma rope rose rosebud rosemary rosewood rotterdam rowan \
    royal rutabaga \
    saddle saffron sage sail sailboat sailor salad salamander salmon saloon salsa samurai sand sandal sandcastle \
    sandpiper sandstone sandstorm sandwich sapphire sardine sashimi satchel satin saturn sausage savanna savannah \
    sawdust saxophone scarecrow scarf scarlet schildpad schmetterling schnee schneemann scone scooter scorpion sea \
    seagull seahorse seal seashell seattle seaweed seoul sequoia sesame shadow shallot shamrock shark sheep sherbet \
    shimmer shiny shovel shrimp sierra silk silly silver sinaasappel singer skater skunk sky skylark slate sleigh \
    slipper slippers sloth snail snake snapdragon sneaker sneeuw snorkel snow snowball snowdrift snowfall snowflake \
    snowman snowshoe snowy soccer sofa solar soleil sommer sonne sonnenblume sorbet sorcery sorrel soup soybean \
    spaniel sparkle sparrow spatula spearmint spice spicy spider spiderman spinach spoon spruce squash squid \
    squirrel stallion star stardust starfish starlight starling steel steelers stella steppe stingray stockholm \
    stone stork storm strawberry sugar summer summit sun sunbeam sunday sundial sunflower sunny sunrise sunset \
    sunshine superman surf surfer sushi swallow swan sweater sweet swordfish sycamore sydney syrup \
    taco tadpole tailor tambourine tangerine tango tapestry tapir tarragon tartaruga tea teacup teakettle teapot \
    teardrop teaspoon tempest temple tennis tent terrapin terrier thicket thimble thistle thorn thunder thunderbolt \
    thunderclap thunderstorm thyme tiger timber toast toaster toboggan toffee tofu tokyo tomato tonnerre topaz \
    tormenta tornado toronto tortoise tortue tortuga toucan tournesol tractor trail trampoline treacle treasure tree \
    treehouse trellis tricycle trolley trombone trout truffle trumpet tugboat tulip tulp tumbleweed tuna tundra \
    tunnel tuono turbo turkey turnip turquoise turtle tuxedo twilight typewriter \
    ukulele umber umbrella unicorn urchin \
    valkyrie valley vanilla velvet venice ventana venus verano vermilion vienna viking vinegar vineyard viola violet \
    violette violin vlinder vogel volcano vortex voyage vulture vuurtoren \
    waffle wagon wald walnut walrus waltz wanderer warbler warsaw wasp water watercress waterfall watermelon weasel \
    weaver whale wharf wheat wheelbarrow whirlwind whisker whisper whistle white wild wildfire wildflower willow \
    windmill windy winter wintergreen wisteria wizard wolf wolke wolverine wombat woodchuck woodland woodpecker wool \
    wren \
    yankees yarn yarrow yellow yodel yodeler yogurt yonder yucca \
    zanahoria zebra zenith zephyr zeppelin zesty zinnia zircon zomer zonnebloem zucca zucchini zurich zwiebel",
);
