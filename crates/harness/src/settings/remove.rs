//! Removes our hooks: the inverse of `insert`. If the file has been edited since, only what is ours is removed.

use std::ops::Range;

use super::HookLocation;
use super::edit::Edit;
use super::insert::has_line_end;
use super::render::Before;
use super::survey::{Hook, Survey, group_parts};
use super::tree::{Container, Item, comments};

/// Returns the edits that remove `hooks` from the file. `hooks` is a part of `survey.ours`.
pub fn remove(text: &str, place: &HookLocation, survey: &Survey, hooks: &[&Hook]) -> Vec<Edit> {
    let (Some(root), Some(events), [_, ..]) = (&survey.root, survey.events(place), hooks) else {
        return Vec::new();
    };
    let mut edits = Vec::new();
    let mut gone = Vec::new();
    for (index, (item, array)) in events.items.iter().zip(&survey.arrays).enumerate() {
        let of_event: Vec<&Hook> = hooks.iter().copied().filter(|hook| hook.at.event == index).collect();
        if let Some(array) = array
            && !of_event.is_empty()
            && out_of_event(text, item, array, &of_event, &mut edits) == Left::Nothing
        {
            gone.push(index);
        }
    }
    if gone.len() < events.items.len() {
        edits.extend(cut_items(text, events, &gone, Brackets::NotOurs));
        return edits;
    }
    let stays = hooks.iter().any(|hook| hook.before == Before::EmptyObject);
    let own = survey.member.map(|member| &root.items[member]);
    if own.is_some_and(|own| stays || stray_comments(text, &own.range(), events)) {
        edits.extend(cut_items(text, events, &gone, brackets(hooks)));
    } else if hooks.iter().any(|hook| hook.before == Before::NoFile) && alone(text, survey, root, events) {
        let end = root.close + 1;
        edits.push(Edit::cut(root.open..end + line_end(&text[end..])));
    } else {
        let members = survey.member.map_or(gone, |member| vec![member]);
        edits.extend(cut_items(text, root, &members, brackets(hooks)));
    }
    edits
}

#[derive(PartialEq)]
enum Left {
    Something,
    Nothing,
}

/// Adds edits for one event's array. Returns `Left::Nothing` if the event itself may be removed.
fn out_of_event(text: &str, item: &Item, array: &Container, hooks: &[&Hook], edits: &mut Vec<Edit>) -> Left {
    let mut gone = Vec::new();
    for (index, group) in array.items.iter().enumerate() {
        let of_group: Vec<usize> =
            hooks.iter().filter(|hook| hook.at.group == index).map(|hook| hook.at.hook).collect();
        if of_group.is_empty() {
            continue;
        }
        match group_parts(text, group) {
            Some((_, all)) if of_group.len() < all.items.len() => {
                edits.extend(cut_items(text, &all, &of_group, Brackets::NotOurs));
            }
            _ => gone.push(index),
        }
    }
    if gone.len() < array.items.len() {
        edits.extend(cut_items(text, array, &gone, Brackets::NotOurs));
        return Left::Something;
    }
    if hooks.iter().any(|hook| hook.before == Before::EmptyArray)
        || stray_comments(text, &item.range(), array)
    {
        edits.extend(cut_items(text, array, &gone, brackets(hooks)));
        return Left::Something;
    }
    Left::Nothing
}

/// Returns whether `range` contains a comment outside the items of `container`. Such a comment must not be removed.
fn stray_comments(text: &str, range: &Range<usize>, container: &Container) -> bool {
    let inside: usize = container.items.iter().map(|item| comments(text, &item.range())).sum();
    comments(text, range) > inside
}

/// Returns whether the file contains nothing but the events' object.
fn alone(text: &str, survey: &Survey, root: &Container, events: &Container) -> bool {
    let only_member = survey.member.is_none() || root.items.len() == 1;
    only_member && !stray_comments(text, &(0..text.len()), events)
}

/// Who wrote the line end before the closing bracket of a container that is now empty.
#[derive(Clone, Copy, PartialEq)]
pub enum Brackets {
    Ours,
    NotOurs,
}

fn brackets(hooks: &[&Hook]) -> Brackets {
    if hooks.iter().any(|hook| hook.short) { Brackets::NotOurs } else { Brackets::Ours }
}

/// Removes the items at `gone` from a container, with the white space before each and any commas that become
/// superfluous.
pub fn cut_items(text: &str, container: &Container, gone: &[usize], brackets: Brackets) -> Vec<Edit> {
    let Some(&last_gone) = gone.last() else { return Vec::new() };
    let items = &container.items;
    let last_kept = (0..items.len()).rev().find(|index| !gone.contains(index));
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let on_one_line = items.first().is_some_and(|first| !has_line_end(&text[first.before..first.start]));
    for (count, &index) in gone.iter().enumerate() {
        let item = &items[index];
        cuts.push(if index == 0 { first_cut(text, item) } else { item.before }..item.end());
        let Some(comma) = item.comma else { continue };
        cuts.push(comma..comma + 1);
        // No item is left before this one on the line, so the next item moves up to the bracket.
        if let Some(next) = items.get(index + 1)
            && on_one_line
            && count == index
            && next.before == comma + 1
            && !has_line_end(next.gap(text))
        {
            cuts.push(next.before..next.start);
        }
    }
    match last_kept {
        // The last item is removed and had no comma, so the item before it must lose its comma.
        Some(kept) if last_gone + 1 == items.len() && items[last_gone].comma.is_none() => {
            cuts.extend(items[kept].comma.map(|comma| comma..comma + 1));
        }
        // After a `//` comment the line end was there before us.
        None if brackets == Brackets::Ours && !on_one_line && !items[0].before_needs_line => {
            let end = items[last_gone].comma.map_or(items[last_gone].end(), |comma| comma + 1);
            let blank = &text[end..container.close];
            let line = line_end(blank);
            if line > 0 && blank[line..].bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
                cuts.push(end..container.close);
            }
        }
        _ => {}
    }
    joined(cuts).into_iter().map(|cut| keep_comments_closed(text, items, cut)).map(Edit::cut).collect()
}

/// Returns where the cut of the first item begins: at the last line end before it, which is ours. The white space
/// before that line end was already inside the brackets. On one line, nothing before the item is ours.
fn first_cut(text: &str, item: &Item) -> usize {
    let blank = &text[item.before..item.start];
    match blank.rfind(['\n', '\r']) {
        Some(end) if blank[..end].ends_with('\r') && blank[end..].starts_with('\n') => item.before + end - 1,
        Some(end) => item.before + end,
        None => item.start,
    }
}

fn joined(mut cuts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    cuts.sort_by_key(|cut| cut.start);
    let mut result: Vec<Range<usize>> = Vec::new();
    for cut in cuts {
        match result.last_mut() {
            Some(last) if last.end >= cut.start => last.end = last.end.max(cut.end),
            _ => result.push(cut),
        }
    }
    result
}

/// Shortens a cut right after a `//` comment, so that the following text does not become part of the comment.
fn keep_comments_closed(text: &str, items: &[Item], cut: Range<usize>) -> Range<usize> {
    let item = items.iter().find(|item| item.before_needs_line && item.before == cut.start);
    match item {
        Some(item) if line_end(&text[cut.end..]) == 0 => item.start..cut.end,
        _ => cut,
    }
}

/// Returns the length of the line end that `text` begins with.
pub fn line_end(text: &str) -> usize {
    ["\r\n", "\n", "\r"].into_iter().find(|end| text.starts_with(end)).map_or(0, str::len)
}
