//! What only the user is told: the real harness shows it on the screen, and the model does not get it.

use crate::model::ScriptedModel;
use crate::opencode::OpenCode;
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, text_step};

#[test]
fn on_the_screen_opencode_says_why_nothing_is_captured() {
    let Some(opencode) = OpenCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    OpenCode::init_project(&scratch);
    std::fs::write(scratch.store_folder().join("root.json"), "{brok").expect("a file");
    let model = ScriptedModel::start(ModelScript::main([text_step("Hello.")]));
    let mut terminal = opencode.open_terminal(&scratch, &model);
    terminal.wait_for("Ask anything");
    terminal.type_keys("Begin");
    terminal.wait_for("Begin");
    terminal.type_keys("\r");
    // The screen breaks the lines of the message, so this looks for words.
    for word in ["captured", "root.json", "damaged", "doctor"] {
        terminal.wait_for(word);
    }
    assert!(!model.has_received("not captured"), "only the user is told");
}
