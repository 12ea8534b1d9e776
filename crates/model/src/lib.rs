//! What things are and what should happen. Pure: no files, no clock, no environment, no processes.
