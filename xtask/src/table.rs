//! Tables for a terminal and for a README, and the line that shows progress.

use std::io::{IsTerminal as _, Write as _};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnAlignment {
    Left,
    Right,
}

/// Returns a table whose columns are padded to the widest cell. The first row is the header.
pub fn plain_table(align: &[ColumnAlignment], rows: &[Vec<String>]) -> String {
    let widths = column_widths(align.len(), rows);
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        out.push_str(format_row(align, &widths, row, "  ").trim_end());
        out.push('\n');
        if at == 0 {
            let rule: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
            out.push_str(&rule.join("  "));
            out.push('\n');
        }
    }
    out
}

/// Like [`plain_table`], but in markdown.
pub fn markdown_table(align: &[ColumnAlignment], rows: &[Vec<String>]) -> String {
    let widths = column_widths(align.len(), rows);
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        out.push_str(&format!("| {} |\n", format_row(align, &widths, row, " | ")));
        if at == 0 {
            let rule: Vec<String> = align
                .iter()
                .zip(&widths)
                .map(|(side, &width)| match side {
                    ColumnAlignment::Left => "-".repeat(width + 2),
                    ColumnAlignment::Right => format!("{}:", "-".repeat(width + 1)),
                })
                .collect();
            out.push_str(&format!("|{}|\n", rule.join("|")));
        }
    }
    out
}

fn column_widths(columns: usize, rows: &[Vec<String>]) -> Vec<usize> {
    let widest =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    (0..columns).map(|column| widest(column).unwrap_or(0)).collect()
}

fn format_row(align: &[ColumnAlignment], widths: &[usize], row: &[String], between: &str) -> String {
    let cells: Vec<String> = row
        .iter()
        .zip(align.iter().zip(widths))
        .map(|(cell, (side, &width))| match side {
            ColumnAlignment::Left => format!("{cell:<width$}"),
            ColumnAlignment::Right => format!("{cell:>width$}"),
        })
        .collect();
    cells.join(between)
}

/// Prints a line that the next call overwrites. Prints nothing if stderr is not a terminal.
pub fn print_overwritten_progress_line(text: &str) {
    let mut err = std::io::stderr();
    if err.is_terminal() {
        let _ = write!(err, "\r\x1b[K{text}");
        let _ = err.flush();
    }
}

/// Formats 12345 as `12,345`.
pub fn format_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_rows() -> Vec<Vec<String>> {
        vec![vec!["name".into(), "n".into()], vec!["a".into(), "1000".into()]]
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = plain_table(&[ColumnAlignment::Left, ColumnAlignment::Right], &test_rows());
        assert_eq!(text, "name     n\n----  ----\na     1000\n");
        let text = markdown_table(&[ColumnAlignment::Left, ColumnAlignment::Right], &test_rows());
        assert_eq!(text, "| name |    n |\n|------|-----:|\n| a    | 1000 |\n");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(format_thousands(0), "0");
        assert_eq!(format_thousands(999), "999");
        assert_eq!(format_thousands(1_280), "1,280");
        assert_eq!(format_thousands(1_234_567), "1,234,567");
    }
}
