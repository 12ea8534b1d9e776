use super::super::{SettingsFile, SettingsLayer, SettingsOwner, resolve_settings};
use super::*;

fn parse_stages(files: &[&str]) -> (Vec<StageDefinition>, Vec<String>) {
    let layers: Vec<SettingsLayer> = files
        .iter()
        .map(|text| {
            SettingsLayer::File(SettingsFile { path: "config.toml", text, owner: SettingsOwner::User })
        })
        .collect();
    let resolved = resolve_settings(&layers);
    let word = |f: &Finding| format!("{}: {}", f.line.map_or(0, |line| line), f.text);
    (resolved.stages, resolved.findings.iter().map(word).collect())
}

#[test]
fn a_stage_is_laid_together_key_by_key() {
    let user =
        "[stages.review]\ncritical = [\"review-a.md\"]\nprompt = \"You are {role}.\"\nlaunch = [\"x\"]\n";
    let project = "[stages.review]\nlaunch = [\"claude\", \"-p\"]\nadvisory = [\"review-b.md\"]\ninputs = [\"plan.md\"]\n\
                   [[stages.review.outputs]]\nfile = \"retro-c.md\"\nprompt = \"Other.\"\nlaunch = []\n\
                   [stages.plan]\noutputs = [\"retro-d.md\", \"plan-e.md\"]\n";
    let (stages, findings) = parse_stages(&[user, project]);
    assert_eq!(findings, [""; 0]);
    let review = stages[0].expected_outputs();
    let told: Vec<_> =
        review.iter().map(|o| (o.file.as_str(), o.tier, o.prompt.as_str(), o.launch.len())).collect();
    assert_eq!(
        told,
        [
            ("review-a.md", OutputTier::Critical, "You are a.", 2),
            ("review-b.md", OutputTier::Advisory, "You are b.", 2),
            ("retro-c.md", OutputTier::Advisory, "Other.", 0),
        ]
    );
    assert!(review.iter().all(|output| output.inputs == ["plan.md"]));
    assert_eq!(
        stages[1].expected_outputs().iter().map(|o| o.tier).collect::<Vec<_>>(),
        [OutputTier::Advisory, OutputTier::Critical]
    );
}

#[test]
fn what_is_not_understood_is_refused_whole() {
    for (text, expected) in [
        ("stages = 1", "1: `stages` is a group of stages, not a value"),
        ("[stages]\nreview = 1", "2: `stages.review` is a stage, not a value"),
        (
            "[stages.\"a b\"]",
            "1: stages.a b: the name may contain only letters, digits, `_`, `-` and single dots",
        ),
        ("[stages.review]", "1: stages.review names no outputs; add `critical`, `advisory` or `outputs`"),
        (
            "[stages.review]\ncritcal = []",
            "2: unknown key `stages.review.critcal` (`critical`?); the stage cannot be used",
        ),
        (
            "[stages.review]\ncritical = \"a.md\"",
            "2: stages.review.critical must be a list of file names, such as [\"review-security.md\"]; the stage cannot be used",
        ),
        ("[stages.review]\ncritical = [\"a.md\", \"a.md\"]", "1: stages.review names `a.md` twice"),
        (
            "[stages.review]\ncritical = [\"../a.md\"]",
            "1: stages.review: `../a.md` cannot be an id: it may contain only letters, digits, `_`, `-` and single dots",
        ),
        (
            "[stages.review]\noutputs = [{ file = \"a.md\", tier = \"high\" }]",
            "2: stages.review.outputs[0].tier must be `critical` or `advisory`; the stage cannot be used",
        ),
        (
            "[[stages.review.outputs]]\ntier = \"critical\"",
            "1: stages.review.outputs[0] has no `file`; the stage cannot be used",
        ),
        (
            "[stages.review]\nlaunch = \"claude -p\"",
            "2: stages.review.launch must be a program and its arguments, such as [\"claude\", \"-p\"]; the stage cannot be used",
        ),
    ] {
        let (stages, findings) = parse_stages(&[text]);
        assert_eq!(findings, [expected], "{text}");
        assert!(stages.iter().all(|stage| stage.unusable_reason.is_some()), "{text}");
    }
}
