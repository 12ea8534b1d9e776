//! The verbs. Joins model, harness and store.
