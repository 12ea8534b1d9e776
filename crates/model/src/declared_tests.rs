use super::*;

fn compare(old: &str, new: &str) -> ChangedNames {
    let names = compare_declarations(SourceText::plain(old), SourceText::plain(new));
    // In a JSON string, the same declarations are found.
    let json = |text: &str| {
        text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('"', "\\\"")
    };
    let (old, new) = (json(old), json(new));
    let [old, new] = [&old, &new].map(|text| SourceText::from_json_string(text.as_bytes(), decode_json));
    assert_eq!(compare_declarations(old, new), names);
    names
}

fn decode_json(text: &[u8]) -> Cow<'_, str> {
    let text = format!("\"{}\"", String::from_utf8_lossy(text));
    serde_json::from_str::<String>(&text).unwrap().into()
}

#[test]
fn declarations_of_many_languages_are_named() {
    let cases = [
        ("func Parse(text string) error {", Some("Parse")),
        ("func (s *Store) Load(id int) (*Row, error) {", Some("Load")),
        ("type Row struct {", Some("Row")),
        ("type Kind string", Some("Kind")),
        ("pub(crate) async fn read_all<T>(from: T) -> Vec<u8> {", Some("read_all")),
        ("    pub const fn empty() -> Self {", Some("empty")),
        ("const LIMIT: usize = 3;", Some("LIMIT")),
        ("pub static NAMES: &[&str] = &[", Some("NAMES")),
        ("impl Store for Disk {", None),
        ("class Basket(Base):", Some("Basket")),
        ("    async def total(self, tax=0):", Some("total")),
        ("RETRIES = 3", Some("RETRIES")),
        ("retries = 3", None),
        ("HERE=$(pwd)", None),
        ("export const sum = (a, b) => {", Some("sum")),
        ("export const sum = (a, b) =>", Some("sum")),
        ("  const local = 3", None),
        ("export default function App() {", Some("App")),
        ("export interface Props extends Base {", Some("Props")),
        ("  async loadAll(id) {", Some("loadAll")),
        ("    public static String nameOf(Row row) throws Odd {", Some("nameOf")),
        ("static int count_rows(const char *path) {", Some("count_rows")),
        ("  def self.find(id)", Some("find")),
        ("  def call", Some("call")),
        ("fun total(a: Int): Int {", Some("total")),
        ("run_all() {", Some("run_all")),
        ("if (ready(x)) {", None),
        ("} else if (x) {", None),
        ("t.Run(\"a\", func(t *testing.T) {", None),
        ("describe(\"a\", () => {", None),
        ("for i := range rows(x) {", None),
        ("return wrap(x) {", None),
        ("go func() {", None),
        ("        Err(e) => {", None),
        ("        Some(Row(id)) if is_known(id) && id > 3 => {", None),
        ("// func Old() {", None),
        ("class names are long here", None),
        ("", None),
    ];
    for (line, name) in cases {
        assert_eq!(declared_name(line), name, "{line}");
    }
}

#[test]
fn an_edit_adds_changes_and_removes_names() {
    let describe = |old: &str, new: &str| {
        let names = compare(old, new);
        let inside = if names.begins_inside { " (inside)" } else { "" };
        format!("{}{inside}", names.describe(9, str::to_owned))
    };
    let a = "fn a() {\n    1\n}\n";
    let b = "fn b() {\n    2\n}\n";
    let cases = [
        (a.to_owned(), format!("{a}\n/// Two.\n{b}"), "added b"),
        (format!("{a}\n{b}"), a.to_owned(), "removed b"),
        (a.to_owned(), "fn a() {\n    3\n}\n".to_owned(), "changed a"),
        (a.to_owned(), format!("// One.\n{a}"), ""),
        ("    let x = 1;\n".to_owned(), "    let x = 2;\n".to_owned(), " (inside)"),
        ("    x\n}\n".to_owned(), format!("    y\n}}\n\n{b}"), "added b (inside)"),
        (String::new(), format!("{a}\n{b}"), "added b, a"),
        (a.to_owned(), a.to_owned(), ""),
        (a.trim_end().to_owned(), format!("{a}\n#[test]\n{b}"), "added b"),
        ("\tx = \"\\n{\";\n".to_owned(), format!("\tx = \"\\n{{\";\n\n{b}"), "added b"),
        ("\tdef total\t():\n\t\t1\n".to_owned(), "\tdef total\t():\n\t\t2\n".to_owned(), "changed total"),
    ];
    for (old, new, expected) in cases {
        assert_eq!(describe(&old, &new), expected, "{old:?} → {new:?}");
    }
}

#[test]
fn a_long_file_gives_a_few_names_and_their_number() {
    let text: String = (0..9).map(|n| format!("def f{n}():\n    pass\n")).collect();
    let names = compare("", &text);
    assert_eq!(names.describe(2, str::to_owned), "added f5, f4 +7 more");
    let written = names.clone().keep_only_if_file_is_new(true);
    assert_eq!(written.describe(9, str::to_owned), "added f5, f4, f3, f2, f1, f0 +3 more");
    assert!(names.keep_only_if_file_is_new(false).is_empty(), "the file may have contained them before");
    let long = format!("def {}():", "x".repeat(80));
    assert!(compare("", &long).is_empty());
}

#[test]
fn later_edits_of_a_file_are_added() {
    let names = |added: &[&str], changed: &[&str], removed: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ChangedNames {
            added: owned(added),
            changed: owned(changed),
            removed: owned(removed),
            ..ChangedNames::default()
        }
    };
    let mut all = names(&["a", "b"], &["c"], &["d"]);
    all.add_later_edit(&names(&["d"], &["a"], &["b", "c"]));
    assert_eq!(all, names(&["a"], &["d"], &["c"]));
}

#[test]
fn the_declaration_around_an_edit_counts_only_if_the_edit_begins_inside() {
    let mut inside = compare("  x", "  y");
    inside.set_enclosing_declaration(Some("around".to_owned()));
    assert_eq!(inside.changed, ["around"]);
    let mut whole = compare("fn a() {}", "fn a() { 1 }");
    whole.set_enclosing_declaration(Some("around".to_owned()));
    assert_eq!(whole.changed, ["a"]);
}

#[test]
fn a_patch_has_two_texts_for_each_file() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn outer() {\n-    one();\n+    two();\n*** Add File: \
                 b.py\n+def new():\n+    pass\n*** End Patch";
    let found = old_and_new_texts_in_patch(patch);
    let described: Vec<(&str, String)> =
        found.iter().map(|(path, old, new)| (*path, compare(old, new).describe(9, str::to_owned))).collect();
    assert_eq!(described, [("src/a.rs", "changed outer".to_owned()), ("b.py", "added new".to_owned())]);
}

#[test]
fn prose_and_data_declare_nothing() {
    for (path, may) in
        [("a/b.go", true), ("README.md", false), ("x.json", false), ("Makefile", false), ("a.tsx", true)]
    {
        assert_eq!(may_declare_names(path), may, "{path}");
    }
}

#[test]
fn a_rewritten_file_names_only_what_differs() {
    let describe = |old: &str, new: &str| {
        let json = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            text[1..text.len() - 1].to_owned()
        };
        let names = compare_file_versions(json(old).as_bytes(), json(new).as_bytes(), decode_json);
        names.describe(9, str::to_owned)
    };
    let parse = "def parse(text):\n    return int(text)\n";
    let fmt = "def fmt(cents):\n    return f\"{cents}\\n\"\n";
    let class = "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n";
    let long = format!("def long():\n{}", "    pass\n".repeat(4_000));
    let cases = [
        (format!("{fmt}\n\n{parse}"), format!("{fmt}\n\n{}", parse.replace("int", "float")), "changed parse"),
        (format!("{parse}\n\n{fmt}"), format!("WHOLE = 3\n\n\n{parse}\n\n{fmt}"), "added WHOLE"),
        (parse.to_owned(), format!("{parse}\n\n{fmt}"), "added fmt"),
        (
            format!("{fmt}\n\n{parse}"),
            format!("{fmt}\n\ndef totals():\n    pass\n\n\n{parse}"),
            "added totals",
        ),
        (format!("{fmt}\n\n{parse}"), parse.to_owned(), "removed fmt"),
        (class.to_owned(), class.replace("return 2", "return 3"), "changed two"),
        (class.to_owned(), class.replace("return 1", "return 3"), "changed one"),
        (class.to_owned(), format!("import os\n{class}"), ""),
        (class.to_owned(), class.to_owned(), ""),
        (String::new(), parse.to_owned(), "added parse"),
        (fmt.to_owned(), fmt.replace("\\n", "\\\\n"), "changed fmt"),
        // Of a long file, only the part that differs is compared.
        (
            format!("{long}\n\n{parse}"),
            format!("{long}\n\n{}", parse.replace("int", "float")),
            "changed parse",
        ),
        // The part that differs is too long to be searched, so no names are returned.
        (long.clone(), long.replace("pass", "..."), ""),
    ];
    for (old, new, expected) in cases {
        assert_eq!(describe(&old, &new), expected, "{new}");
    }
}
