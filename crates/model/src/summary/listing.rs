//! Outlines a list of files: how many files of each type each folder contains.

use std::collections::BTreeMap;

use super::titled_section;

/// The number of leading path components by which files are grouped.
const GROUP_PATH_PARTS: usize = 2;

pub fn outline_listing(lines: &[&str], room: usize) -> String {
    let mut folders: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        let (folder, name) = line.trim_end_matches('/').rsplit_once('/').unwrap_or((".", line));
        let group: Vec<&str> =
            folder.split('/').filter(|part| !part.is_empty()).take(GROUP_PATH_PARTS).collect();
        let group = if group.is_empty() { ".".to_owned() } else { group.join("/") };
        let ending =
            name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("other", |(_, ending)| ending);
        *folders.entry(group).or_default().entry(ending).or_default() += 1;
    }
    let mut groups: Vec<(usize, String)> = folders
        .into_iter()
        .map(|(folder, endings)| {
            let all: usize = endings.values().sum();
            let mut endings: Vec<(&str, usize)> = endings.into_iter().collect();
            endings.sort_by_key(|(_, times)| usize::MAX - times);
            let named: Vec<String> =
                endings.iter().take(4).map(|(ending, times)| format!("{ending} {times}")).collect();
            (all, format!("{folder}/  {all} ({})", named.join(", ")))
        })
        .collect();
    groups.sort_by_key(|(all, _)| usize::MAX - all);
    let items: Vec<String> = groups.into_iter().map(|(_, line)| line).collect();
    titled_section("folders", &items, room * 3 / 4)
}
