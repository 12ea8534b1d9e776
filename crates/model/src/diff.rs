//! What a change does to a file, for people who want to see it first.

use std::fmt::Write as _;

const CONTEXT: usize = 3;
/// Two thousand lines against two thousand; past that the shortest way is not looked for.
const LARGEST_TABLE: usize = 4_000_000;

/// One line of the way from old to new: indices of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Keep(usize, usize),
    Delete(usize),
    Insert(usize),
}

/// The hunks of a unified diff with three lines of context; empty if nothing changes. The names of the files go above it.
pub fn diff(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let steps = steps(&old, &new);
    let changed: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| !matches!(step, Step::Keep(..)))
        .map(|(i, _)| i)
        .collect();
    let mut out = String::new();
    let mut from = 0;
    while from < changed.len() {
        let mut to = from;
        while to + 1 < changed.len() && changed[to + 1] - changed[to] <= 2 * CONTEXT + 1 {
            to += 1;
        }
        let start = changed[from].saturating_sub(CONTEXT);
        let end = (changed[to] + CONTEXT + 1).min(steps.len());
        hunk(&steps[..start], &steps[start..end], &old, &new, &mut out);
        from = to + 1;
    }
    out
}

fn hunk(before: &[Step], steps: &[Step], old: &[&str], new: &[&str], out: &mut String) {
    let count = |steps: &[Step]| {
        let deleted = steps.iter().filter(|step| !matches!(step, Step::Insert(_))).count();
        let inserted = steps.iter().filter(|step| !matches!(step, Step::Delete(_))).count();
        (deleted, inserted)
    };
    let (old_before, new_before) = count(before);
    let (old_count, new_count) = count(steps);
    // An empty side is named by the line it comes after.
    let line = |before: usize, count: usize| before + usize::from(count > 0);
    let (old_line, new_line) = (line(old_before, old_count), line(new_before, new_count));
    let _ = writeln!(out, "@@ -{old_line},{old_count} +{new_line},{new_count} @@");
    for step in steps {
        let (sign, line) = match *step {
            Step::Keep(_, index) => (' ', new[index]),
            Step::Delete(index) => ('-', old[index]),
            Step::Insert(index) => ('+', new[index]),
        };
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

fn steps(old: &[&str], new: &[&str]) -> Vec<Step> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let kept_head = (0..head).map(|index| Step::Keep(index, index));
    let kept_tail = (0..tail).map(|index| Step::Keep(old.len() - tail + index, new.len() - tail + index));
    let middle = shortest(old_rest, new_rest).unwrap_or_else(|| {
        (0..old_rest.len()).map(Step::Delete).chain((0..new_rest.len()).map(Step::Insert)).collect()
    });
    let middle = middle.into_iter().map(|step| match step {
        Step::Keep(a, b) => Step::Keep(a + head, b + head),
        Step::Delete(a) => Step::Delete(a + head),
        Step::Insert(b) => Step::Insert(b + head),
    });
    kept_head.chain(middle).chain(kept_tail).collect()
}

/// The way with the fewest changes: the longest common subsequence, from a table of all pairs. None if that is too big.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Step>> {
    let width = new.len() + 1;
    let cells = width.checked_mul(old.len() + 1).filter(|cells| *cells <= LARGEST_TABLE)?;
    // `common[x * width + y]`: how many lines `old[x..]` and `new[y..]` have in common.
    let mut common = vec![0u32; cells];
    for x in (0..old.len()).rev() {
        for y in (0..new.len()).rev() {
            common[x * width + y] = if old[x] == new[y] {
                common[(x + 1) * width + y + 1] + 1
            } else {
                common[(x + 1) * width + y].max(common[x * width + y + 1])
            };
        }
    }
    let (mut x, mut y) = (0, 0);
    let mut steps = Vec::new();
    while x < old.len() || y < new.len() {
        if x < old.len() && y < new.len() && old[x] == new[y] {
            steps.push(Step::Keep(x, y));
            (x, y) = (x + 1, y + 1);
        } else if x < old.len()
            && (y == new.len() || common[(x + 1) * width + y] >= common[x * width + y + 1])
        {
            steps.push(Step::Delete(x));
            x += 1;
        } else {
            steps.push(Step::Insert(y));
            y += 1;
        }
    }
    Some(steps)
}
