//! Finds the fields of expertise that a text is about, so that an architect agent can consult the right expert. The
//! search only looks for words that are typical of each field. The feature is off by default, because the architect's
//! model recognises fields better than this search.

use serde::Serialize;

/// A field of expertise, and which of its typical words occur in the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Domain {
    pub name: &'static str,
    pub words: Vec<String>,
}

/// The fields of expertise, each with words that belong to no other field. The words must match whole words of the
/// text, ignoring case.
const FIELD_WORDS: &[(&str, &str)] = &[
    (
        "security",
        "security auth authentication authorization oauth jwt csrf xss injection encryption cipher tls certificate password secret secrets vulnerability cve sandbox permissions",
    ),
    (
        "database",
        "database sql postgres postgresql mysql sqlite mongodb redis migration migrations schema index query queries transaction transactions orm",
    ),
    ("web", "html css dom browser react vue svelte angular frontend responsive webpack vite tailwind"),
    ("api", "api rest graphql grpc endpoint endpoints openapi swagger webhook webhooks http"),
    ("cloud", "aws azure gcp lambda s3 kubernetes k8s docker container containers terraform helm serverless"),
    ("ci", "ci pipeline pipelines workflow workflows jenkins github-actions release deploy deployment"),
    ("testing", "test tests testing coverage fixture fixtures mock mocks flaky fuzz property-based e2e"),
    (
        "performance",
        "performance latency throughput benchmark profiling cache caching memory allocation bottleneck",
    ),
    ("concurrency", "concurrency thread threads async await deadlock race mutex lock locks actor"),
    ("networking", "network tcp udp socket sockets dns proxy websocket websockets quic firewall"),
    ("mobile", "ios android swiftui kotlin mobile flutter"),
    (
        "data",
        "machine-learning ml model training dataset pandas numpy pytorch tensorflow embedding embeddings",
    ),
    ("systems", "kernel syscall syscalls filesystem inode mmap signal signals posix linux embedded firmware"),
    ("accessibility", "accessibility a11y aria screen-reader wcag"),
    ("legal", "licence license gdpr compliance privacy copyright"),
];

/// Returns the fields that the text is about. The field with the most matching words comes first.
pub fn find_domains(text: &str) -> Vec<Domain> {
    let words: Vec<String> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let found = FIELD_WORDS.iter().map(|(name, known)| {
        let mut named: Vec<String> =
            words.iter().filter(|word| known.split(' ').any(|known| known == *word)).cloned().collect();
        named.sort();
        named.dedup();
        Domain { name, words: named }
    });
    let mut found: Vec<Domain> = found.filter(|domain| !domain.words.is_empty()).collect();
    found.sort_by_key(|domain| usize::MAX - domain.words.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain_names(text: &str) -> Vec<&'static str> {
        find_domains(text).into_iter().map(|domain| domain.name).collect()
    }

    #[test]
    fn domains_are_recognised_by_their_words() {
        for (text, expected) in [
            ("Add OAuth login with a JWT, and a migration", &["security", "database"][..]),
            ("Deploy the Docker container to Kubernetes", &["cloud", "ci"]),
            ("the latest contest attests", &[]),
            ("", &[]),
            ("Fix a deadlock between two threads", &["concurrency"]),
        ] {
            assert_eq!(domain_names(text), expected, "{text}");
        }
        assert_eq!(find_domains("SQL, sql and SQL")[0].words, ["sql"]);
    }
}
