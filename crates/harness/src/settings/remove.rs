//! Removes our hooks. This is the inverse of `insert`. If somebody has edited the file since the installation, only our
//! own text is removed.

use std::ops::Range;

use super::HookLocation;
use super::edit::TextEdit;
use super::insert::contains_line_break;
use super::render::ContentBeforeInstall;
use super::survey::{InstalledThruHook, SettingsSurvey, group_and_hooks_array};
use super::tree::{JsonContainer, JsonItem, count_comments};

/// Returns the edits that remove `hooks` from the file. `hooks` is a subset of `survey.our_hooks`.
pub fn removal_edits(
    text: &str,
    place: &HookLocation,
    survey: &SettingsSurvey,
    hooks: &[&InstalledThruHook],
) -> Vec<TextEdit> {
    let (Some(root), Some(events), [_, ..]) = (&survey.root, survey.events_object(place), hooks) else {
        return Vec::new();
    };
    let mut edits = Vec::new();
    let mut gone = Vec::new();
    for (index, (item, array)) in events.items.iter().zip(&survey.event_arrays).enumerate() {
        let of_event: Vec<&InstalledThruHook> =
            hooks.iter().copied().filter(|hook| hook.hook_path.event == index).collect();
        if let Some(array) = array
            && !of_event.is_empty()
            && remove_from_event(text, item, array, &of_event, &mut edits) == EventRemainder::NothingLeft
        {
            gone.push(index);
        }
    }
    if gone.len() < events.items.len() {
        edits.extend(remove_items(text, events, &gone, BracketAuthor::NotOurs));
        return edits;
    }
    let stays = hooks.iter().any(|hook| hook.state_before == ContentBeforeInstall::EmptyObject);
    let own = survey.events_member_index.map(|member| &root.items[member]);
    if own.is_some_and(|own| stays || has_stray_comments(text, &own.range(), events)) {
        edits.extend(remove_items(text, events, &gone, bracket_author(hooks)));
    } else if hooks.iter().any(|hook| hook.state_before == ContentBeforeInstall::NoFile)
        && is_only_events_object(text, survey, root, events)
    {
        let end = root.close_bracket + 1;
        edits.push(TextEdit::deletion(root.open_bracket..end + leading_line_end_length(&text[end..])));
    } else {
        let members = survey.events_member_index.map_or(gone, |member| vec![member]);
        edits.extend(remove_items(text, root, &members, bracket_author(hooks)));
    }
    edits
}

#[derive(PartialEq)]
enum EventRemainder {
    SomethingLeft,
    NothingLeft,
}

/// Adds edits for one event's array. Returns `EventRemainder::NothingLeft` if the event itself may be removed.
fn remove_from_event(
    text: &str,
    item: &JsonItem,
    array: &JsonContainer,
    hooks: &[&InstalledThruHook],
    edits: &mut Vec<TextEdit>,
) -> EventRemainder {
    let mut gone = Vec::new();
    for (index, group) in array.items.iter().enumerate() {
        let of_group: Vec<usize> = hooks
            .iter()
            .filter(|hook| hook.hook_path.group == index)
            .map(|hook| hook.hook_path.hook)
            .collect();
        if of_group.is_empty() {
            continue;
        }
        match group_and_hooks_array(text, group) {
            Some((_, all)) if of_group.len() < all.items.len() => {
                edits.extend(remove_items(text, &all, &of_group, BracketAuthor::NotOurs));
            }
            _ => gone.push(index),
        }
    }
    if gone.len() < array.items.len() {
        edits.extend(remove_items(text, array, &gone, BracketAuthor::NotOurs));
        return EventRemainder::SomethingLeft;
    }
    if hooks.iter().any(|hook| hook.state_before == ContentBeforeInstall::EmptyArray)
        || has_stray_comments(text, &item.range(), array)
    {
        edits.extend(remove_items(text, array, &gone, bracket_author(hooks)));
        return EventRemainder::SomethingLeft;
    }
    EventRemainder::NothingLeft
}

/// Returns whether `range` contains a comment outside the items of `container`. Such a comment must not be removed.
fn has_stray_comments(text: &str, range: &Range<usize>, container: &JsonContainer) -> bool {
    let inside: usize = container.items.iter().map(|item| count_comments(text, &item.range())).sum();
    count_comments(text, range) > inside
}

/// Returns whether the file contains nothing but the object with the events.
fn is_only_events_object(
    text: &str,
    survey: &SettingsSurvey,
    root: &JsonContainer,
    events: &JsonContainer,
) -> bool {
    let only_member = survey.events_member_index.is_none() || root.items.len() == 1;
    only_member && !has_stray_comments(text, &(0..text.len()), events)
}

/// Who put a container's closing bracket on its own line. If we did, the line break before the bracket is removed
/// when the container becomes empty.
#[derive(Clone, Copy, PartialEq)]
pub enum BracketAuthor {
    Ours,
    NotOurs,
}

fn bracket_author(hooks: &[&InstalledThruHook]) -> BracketAuthor {
    if hooks.iter().any(|hook| hook.is_on_one_line) { BracketAuthor::NotOurs } else { BracketAuthor::Ours }
}

/// Removes the items at `gone` from a container, with the white space before each item and any superfluous commas.
pub fn remove_items(
    text: &str,
    container: &JsonContainer,
    gone: &[usize],
    brackets: BracketAuthor,
) -> Vec<TextEdit> {
    let Some(&last_gone) = gone.last() else { return Vec::new() };
    let items = &container.items;
    let last_kept = (0..items.len()).rev().find(|index| !gone.contains(index));
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let on_one_line =
        items.first().is_some_and(|first| !contains_line_break(&text[first.previous_token_end..first.start]));
    for (count, &index) in gone.iter().enumerate() {
        let item = &items[index];
        cuts.push(
            if index == 0 { start_of_first_cut(text, item) } else { item.previous_token_end }..item.end(),
        );
        let Some(comma) = item.comma_position else { continue };
        cuts.push(comma..comma + 1);
        // No item remains before this one, so the next item moves up to the bracket.
        if let Some(next) = items.get(index + 1)
            && on_one_line
            && count == index
            && next.previous_token_end == comma + 1
            && !contains_line_break(next.text_before(text))
        {
            cuts.push(next.previous_token_end..next.start);
        }
    }
    match last_kept {
        // The last item is removed and had no comma after it, so the comma before it is removed too.
        Some(kept) if last_gone + 1 == items.len() && items[last_gone].comma_position.is_none() => {
            cuts.extend(items[kept].comma_position.map(|comma| comma..comma + 1));
        }
        // If a `//` comment comes before the first item, the line end belongs to the comment and is kept.
        None if brackets == BracketAuthor::Ours
            && !on_one_line
            && !items[0].previous_token_needs_line_end =>
        {
            let end = items[last_gone].comma_position.map_or(items[last_gone].end(), |comma| comma + 1);
            let blank = &text[end..container.close_bracket];
            let line = leading_line_end_length(blank);
            if line > 0 && blank[line..].bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
                cuts.push(end..container.close_bracket);
            }
        }
        _ => {}
    }
    join_overlapping_cuts(cuts)
        .into_iter()
        .map(|cut| keep_comments_closed(text, items, cut))
        .map(TextEdit::deletion)
        .collect()
}

/// Returns the position where the removed text starts if the first item of a container is removed. This is the last line
/// end before the item, because we wrote that line end. The white space before that line end was in the file before our
/// installation. If there is no line end, the removed text starts with the item itself.
fn start_of_first_cut(text: &str, item: &JsonItem) -> usize {
    let blank = &text[item.previous_token_end..item.start];
    match blank.rfind(['\n', '\r']) {
        Some(end) if blank[..end].ends_with('\r') && blank[end..].starts_with('\n') => {
            item.previous_token_end + end - 1
        }
        Some(end) => item.previous_token_end + end,
        None => item.start,
    }
}

fn join_overlapping_cuts(mut cuts: Vec<Range<usize>>) -> Vec<Range<usize>> {
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

/// If a cut starts right after a `//` comment, moves its start so that the line end of the comment stays in the file.
/// Otherwise, the text after the cut would become part of the comment.
fn keep_comments_closed(text: &str, items: &[JsonItem], cut: Range<usize>) -> Range<usize> {
    let item =
        items.iter().find(|item| item.previous_token_needs_line_end && item.previous_token_end == cut.start);
    match item {
        Some(item) if leading_line_end_length(&text[cut.end..]) == 0 => item.start..cut.end,
        _ => cut,
    }
}

pub fn leading_line_end_length(text: &str) -> usize {
    ["\r\n", "\n", "\r"].into_iter().find(|end| text.starts_with(end)).map_or(0, str::len)
}
