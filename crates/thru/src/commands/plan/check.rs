use model::text::count_with_noun;
use ops::features::plan::show::{self, CheckedPlan};
use ops::{Result, World};

use crate::output::{self, GOOD, OutputFormat};

pub fn run(world: &World, format: OutputFormat) -> Result<u8> {
    let checked = show::check_plan(world)?;
    match format {
        OutputFormat::Json => output::print_json(&checked),
        OutputFormat::Text => print_checked(&checked),
    }
    Ok(u8::from(!checked.is_good()))
}

fn print_checked(checked: &CheckedPlan) {
    let CheckedPlan { tasks, ledger_lines, findings, .. } = checked;
    for finding in findings {
        output::print_line(output::format_finding(finding));
    }
    if findings.is_empty() {
        output::print_line(format_args!(
            "{GOOD}The plan is sound:{GOOD:#} {}; rebuilding it from {} in the ledger gives the same plan",
            count_with_noun(*tasks, "task"),
            count_with_noun(*ledger_lines, "change")
        ));
    }
}
