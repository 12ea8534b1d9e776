use std::path::{Path, PathBuf};

use model::gate::GateResult;
use model::render::one_line;
use model::text::count_with_noun;
use ops::features::outputs::{self, ClearedLiveRun, LiveRunReport, LiveRunSource, LiveRunState};
use ops::{Result, World};

use crate::output::{self, DIM, OutputFormat, WARN};

/// Show or set which run is live
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Set the live run: a folder in the project, or the name of a run in .agent/context/outputs
    #[arg(long, value_name = "DIR", conflicts_with = "clear")]
    set: Option<PathBuf>,
    /// Clear the live run; its files stay, and the stage before it is live again if it has open outputs
    #[arg(long)]
    clear: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if args.clear {
        let done = outputs::clear_live_run(world)?;
        match format {
            OutputFormat::Json => output::print_json(&ClearedJson::from_report(&done)),
            OutputFormat::Text => print_cleared(&done),
        }
        return Ok(0);
    }
    let live = match &args.set {
        Some(dir) => outputs::set_live_run(world, dir)?,
        None => outputs::show_live_run(world)?,
    };
    match format {
        OutputFormat::Json => output::print_json(&live),
        OutputFormat::Text => print_live_run(&live),
    }
    Ok(0)
}

fn print_cleared(done: &ClearedLiveRun) {
    match &done.cleared {
        Some(LiveRunReport { run, stage: Some(stage), gate, .. }) => {
            let what = match gate {
                Some(GateResult::Pass) => "has passed and is no longer live",
                Some(GateResult::SoftContinue) => "has its critical outputs and is no longer live",
                Some(GateResult::HardFail) | None => "is no longer live",
            };
            let (stage, run) = (one_line(stage, 128), run.display());
            output::print_line(format_args!("Stage {stage} {what}; its files stay in {run}"));
        }
        Some(LiveRunReport { run, stage: None, .. }) => {
            output::print_line(format_args!("{} is no longer the live run; its files stay", run.display()));
        }
        None if done.live_now.is_none() => {
            output::print_line("No run was live, so there was nothing to clear");
        }
        None => {}
    }
    for state in &done.open_in_same_folder {
        let stage = one_line(&state.stage, 128);
        let open = count_with_noun(state.invalid_outputs.len(), "open output");
        output::print_message(format_args!(
            "{WARN}warning:{WARN:#} stage {stage} in the same folder is no longer live either, and still has {open}"
        ));
    }
    match &done.live_now {
        Some(live) if live.source == LiveRunSource::LiveStateFile => {
            let (ours, theirs) = (LiveRunSource::LiveJson.describe(), live.source.describe());
            let run = live.run.display();
            output::print_line(format_args!("{ours} names no run now, but {theirs} still names {run}"));
        }
        Some(LiveRunReport { stage: Some(stage), .. }) => {
            let stage = one_line(stage, 128);
            output::print_line(format_args!(
                "Stage {stage} still has open outputs and is live again; `thru gate live --clear` clears it too"
            ));
        }
        _ => {}
    }
}

/// The JSON output of `--clear`. `cleared` is the run that was live before. If another run is live now, the other
/// fields describe it, as in the output without `--clear`.
#[derive(serde::Serialize)]
struct ClearedJson<'a> {
    run: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<LiveRunSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<&'a LiveRunReport>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    open_in_same_folder: &'a [LiveRunState],
}

impl ClearedJson<'_> {
    fn from_report(done: &ClearedLiveRun) -> ClearedJson<'_> {
        let live = done.live_now.as_ref();
        ClearedJson {
            run: live.map(|live| live.run.as_path()),
            from: live.map(|live| live.source),
            stage: live.and_then(|live| live.stage.as_deref()),
            cleared: done.cleared.as_ref(),
            open_in_same_folder: &done.open_in_same_folder,
        }
    }
}

fn print_live_run(live: &LiveRunReport) {
    let stage = match &live.stage {
        Some(stage) => format!("stage {}", one_line(stage, 128)),
        None => "nothing is expected in it yet".to_owned(),
    };
    output::print_line(format_args!("{}", live.run.display()));
    output::print_message(format_args!("{DIM}{stage}; named by {}{DIM:#}", live.source.describe()));
}
