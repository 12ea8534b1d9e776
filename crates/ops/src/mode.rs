/// Whether changes are written, or only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    Write,
    DryRun,
}
