use model::text::count;
use ops::features::plan::show::{self, Checked};
use ops::{Result, World};

use crate::output::{self, Format, GOOD};

pub fn run(world: &World, format: Format) -> Result<u8> {
    let checked = show::check(world)?;
    match format {
        Format::Json => output::json(&checked),
        Format::Text => print_checked(&checked),
    }
    Ok(u8::from(!checked.is_good()))
}

fn print_checked(checked: &Checked) {
    let Checked { tasks, ledger_lines, findings, .. } = checked;
    for finding in findings {
        output::line(output::finding(finding));
    }
    if findings.is_empty() {
        output::line(format_args!(
            "{GOOD}The plan is sound:{GOOD:#} {}, {} in the ledger give the same plan",
            count(*tasks, "task"),
            count(*ledger_lines, "change")
        ));
    }
}
