/// Whether to do it, or only to show what would be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Write,
    DryRun,
}
