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
    aardbei abacaxi acorn albatross alder alligator almond alpaca amber amethyst amsterdam anchovy angel antelope \
    antler apfel apfelbaum appel apple apricot apron aqua arcobaleno armadillo arrowhead arsenal artichoke aspen \
    aster athens aurora austin autumn avalanche avocado azalea \
    baboon backpack bacon badger bagel bagpipe baker ballerina balloon balsam bamboo banana bandana bandit bangkok \
    banjo barcelona barley barn barnacle barrel baseball basil batman bayern beach beacon beagle bear beaver bee \
    beech beet beetle berg berlin berry bicycle birch bird birne biscuit bison bizcocho black blanket blaze blizzard \
    bloem blossom blue bluebell blueberry blume boat bobcat bogota bonbon bonfire bonsai boots borboleta boston \
    bottle boulder bowl bracelet bramble brass brave bread breeze brick bright brisket broccoli brombeere bronze \
    brook broom broomstick brot brownie brussels buckle budapest buffalo bumblebee bungalow bunny burger burrito \
    butter buttercup butterfly butterscotch \
    caballo cabbage cabin cachorro cactus cairo camel camp canary candle candlestick candy canoe canyon captain \
    caramel caravan cardamom cardinal caribou carpet carrot cashew castle cat caterpillar cauliflower cavallo cavern \
    cedar cello cenoura cerise cerisier chamomile chandelier chapeau cheddar cheese cheetah chelsea cherry cherub \
    chestnut chicago chicken chien chili chimney chipmunk chocolate chutney cider ciel cielo cinder cinnamon citron \
    citrus clarinet clementine cliff clockwork clover coal cobalt cobblestone cobra cobweb coconut coffee comet \
    copper coral corduroy coriander corn cornflower cottage cotton cougar cowboy coyote crab cranberry crane crater \
    crayfish crayon cream cricket crimson crocodile crocus crow crown crystal cuckoo cucumber cumin cupcake currant \
    curry cyclone \
    daffodil dahlia daisy dallas dance dancer dandelion dawn daybreak deer delhi denim denver desert dewdrop diamond \
    dingo dinosaur dog dolphin donkey donner donut doodle dove dragon dragonfly dragonfruit driftwood drizzle drum \
    dublin duck dumpling dune dungeon dusk \
    eagle easel ebony eclipse eel eggplant egret elbow elder elefante elephant elk ember emerald erdbeere estrela \
    estrella etoile eucalyptus evergreen \
    fable falafel falcon fandango farfalla farmer fawn feather fennel fern ferret fiddle fiets finch finestra fiore \
    firefly fireside firewood fish fiume fjord flame flamingo flannel flapjack fleur flint flor florence flower \
    fluffy flute fog football forest fortress fossil fountain fox fragola framboise freckle frodo frog fromage frost \
    fruit fudge fuzzy \
    galaxy galleta gallop gandalf garden gardenia gargoyle garlic garnet garten gato gatto gazebo gazelle gecko \
    geneva geranium gewitter geyser gibbon ginger gingerbread gingham giraffe girasol girassol glacier glade glass \
    glimmer goat goblet goblin goggles gold golden goldenrod goldfish gondola goose gopher gorilla granite grape \
    grapefruit grass gravel green grenouille grey grizzly grove guacamole guava guitar gull gumdrop \
    hail hailstone halibut hamburg hammer hammock hamster hanoi happy harbor harbour hare harp harvest haus havana \
    hawk haystack hazel hazelnut heart heather hedge hedgehog helmet helsinki hemel hemlock herbst hermit heron \
    herring hibiscus hickory hill himmel hippo hobbit hockey hollow holly hond honey honeybee honeysuckle hopscotch \
    horizon hornet horse house hummingbird hummus hund hurricane hyacinth hyena \
    ibis ice iceberg icicle igloo iguana impala indigo inkwell invierno iris iron island istanbul ivory ivy \
    jackal jacket jackrabbit jade jaguar jalapeno jardin jasmine jasper jelly jellyfish jester jewel jigsaw jolly \
    journey jungle juniper jupiter juventus \
    kaas kaffee kaleidoscope kangaroo kartoffel katze kayak kazoo kebab kelp kestrel ketchup kettle king kingfisher \
    kirsche kitchen kite kitten kiwi knapsack knight koala kyoto \
    labyrinth lace ladder ladybug lagoon lake lakers lamb lamp lantern lapis larch lark lasagna laurel lava lavender \
    leaf leather leek lemon lemonade lemur lentil leopard lettuce libellule lighthouse lightning lilac lily lima \
    lime limone linen lion lisbon liverpool lizard llama lobster locket lollipop london lotus lucky lullaby \
    lumberjack luna lunar lune lynx \
    macaroni macaw mackerel madrid magenta magic magma magnet magnolia magpie mahogany mammoth manatee mandolin \
    mango manila mantle manzana maple maraca maracas marble margarita marigold marina marionette mariposa marlin \
    marmot maroon marsh marshmallow marzipan meadow meerkat mela mellow melon meringue mermaid merry meteor midnight \
    mighty milano millstone mimosa minaret minnow minstrel mint mirror mist mistletoe mitten moccasin mockingbird \
    mole molen mond monkey monsoon monster montagna montagne montana montanha moon moonbeam moonlight moonstone \
    moose morango morning mosaic moss moth moulin mountain mouse muffin mulberry mumbai munich mushroom music \
    muskrat mussel mustang mustard \
    nacho nairobi napkin napoli naranja narwhal nashorn nebula nectar nectarine needle neige nettle neve newt night \
    nightfall nightingale nightshade nimbus ninja noodle nougat nuage nube nutcracker nutmeg nuvem nuvola \
    oak oasis oatmeal oboe ocean ocelot octopus oiseau oleander olive omelet onion onyx opal orange orca orchard \
    orchid oregano origami oriole osaka oslo osprey ostrich otter outlaw owl oyster \
    packers paddle paddock pagoda painter paisley pajaro paladin palm pancake panda panther papaya papillon paprika \
    parade parasol parchment parfait paris parrot parsley parsnip pasta pastry patchwork peach peacock peanut pear \
    pearl pebble pecan pelican pencil penguin peony peperone pepper peppercorn peppermint periwinkle perro persimmon \
    petal petunia pheasant piano pickle pigeon pikachu pilgrim pillow pine pineapple pinecone pink pinwheel pirate \
    pistachio pizza planet plankton platypus plaza plum plumage pocket pokemon polar pomegranate pomme pony popcorn \
    poplar poppy porcupine porridge porto potato prairie pretzel princess puffin pulley pumpkin puppy purple puzzle \
    quail quarry quartz queen quiche quicksilver quill quilt quince quokka \
    rabbit raccoon radish rain rainbow raindrop rainstorm raisin ramen rapids raspberry rattlesnake raven ravine red \
    reef regen regenboog reindeer rhino rhubarb ribbon rice rickshaw riddle rider ridge river riverbank riviere \
    robin rocket roma rose rosebud rosemary rosewood rotterdam rowan royal rutabaga \
    saddle saffron sage sail sailor salad salamander salmon saloon salsa samurai sand sandal sandcastle sandpiper \
    sandstone sandwich sapphire sardine sashimi satchel satin saturn sausage savanna sawdust scarecrow scarf scarlet \
    schildpad schmetterling schnee schneemann scooter scorpion sea seagull seahorse seal seashell seattle seaweed \
    seoul sequoia sesame shadow shallot shamrock shark sheep sherbet shimmer shiny shovel shrimp silk silly silver \
    singer skater skunk sky skylark slate sleigh slipper sloth snail snake sneaker sneeuw snorkel snow snowball \
    snowdrift snowfall snowflake snowman snowshoe snowy soccer sofa solar soleil sommer sonne sonnenblume sorbet \
    sorcery sorrel soup soybean spaniel sparkle sparrow spatula spearmint spice spicy spider spiderman spinach spoon \
    spruce squash squid squirrel stallion star stardust starfish starlight steel steelers stella stingray stockholm \
    stone stork storm strawberry sugar summer summit sun sunbeam sunday sundial sunflower sunny sunrise sunset \
    sunshine superman surf surfer sushi swallow swan sweater sweet swordfish sycamore sydney syrup \
    taco tadpole tambourine tangerine tango tapestry tapir tarragon tartaruga tea teacup teakettle teapot teardrop \
    tempest temple tennis terrapin terrier thicket thimble thistle thorn thunder thunderbolt thunderstorm thyme \
    tiger timber toast toaster toboggan toffee tofu tokyo tomato topaz tornado toronto tortoise tortue tortuga \
    toucan tournesol tractor trail trampoline treasure tree treehouse trellis tricycle trolley trombone trout \
    truffle trumpet tugboat tulip tulp tumbleweed tuna tundra turbo turkey turnip turquoise turtle tuxedo twilight \
    ukulele umber umbrella unicorn urchin \
    valkyrie valley vanilla velvet venice ventana venus verano vermilion vienna viking vinegar vineyard viola violet \
    violin vlinder vogel volcano voyage vulture \
    waffle wagon wald walnut walrus waltz wanderer warbler warsaw wasp water watercress waterfall watermelon weasel \
    whale wharf wheat wheelbarrow whirlwind whisker whisper whistle white wild wildfire wildflower willow windmill \
    winter wintergreen wisteria wizard wolf wolke wolverine wombat woodchuck woodland woodpecker wool wren \
    yankees yarn yarrow yellow yodel yodeler yogurt yonder yucca \
    zanahoria zebra zenith zephyr zeppelin zinnia zircon zomer zonnebloem zucca zucchini zurich zwiebel",
);
