//! Replicas of a server: one that takes over must know of every transaction that was acknowledged.

use super::DatabaseError;

/// What a URL says of replicas, by `replicas=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Replicas {
    /// Nothing: there are none, or commits wait for them.
    #[default]
    Unsaid,
    /// Commits wait for one, always.
    Synchronous,
    /// Commits need not wait: whoever promotes one knows that it may lack debits.
    Asynchronous,
}

/// Which replicas a server has. Commits wait as long as names are set, whether those are there or not. Without them
/// whatever streams, or has a slot to go on from, is a replica that may lack the last of them, but for a backup while it is
/// made; whoever may not see which it is sees that there is one. (Where nothing streams that is found out first: the view
/// looks at every connection.)
pub(super) const FOUND: &str = "SELECT CASE \
    WHEN current_setting('synchronous_standby_names') <> '' AND current_setting('max_wal_senders') <> '0' \
      THEN 'synchronous' \
    WHEN EXISTS (SELECT FROM pg_stat_get_wal_senders()) \
        AND EXISTS (SELECT FROM pg_stat_replication WHERE application_name IS DISTINCT FROM 'pg_basebackup') \
      OR EXISTS (SELECT FROM pg_get_replication_slots() WHERE slot_type = 'physical' AND NOT temporary) \
      THEN 'asynchronous' \
    ELSE 'none' END";

/// What is [`FOUND`] where commits wait.
pub(super) const WAITED_FOR: &str = "synchronous";

impl Replicas {
    /// Reads the setting's value.
    pub(super) fn read(value: &str) -> Result<Self, DatabaseError> {
        match value {
            "synchronous" => Ok(Self::Synchronous),
            "asynchronous" => Ok(Self::Asynchronous),
            other => Err(DatabaseError::Unusable(format!(
                "replicas is {other:?}; legal: synchronous, asynchronous"
            ))),
        }
    }

    /// Whether the server is asked at all.
    pub(super) fn matter(self) -> bool {
        self != Self::Asynchronous
    }

    /// What is wrong with what was [`FOUND`].
    pub(super) fn problem(self, found: &str) -> Option<&'static str> {
        match (self, found) {
            (Self::Asynchronous, _) | (_, WAITED_FOR) | (Self::Unsaid, "none") => None,
            (Self::Synchronous, _) => Some(
                "synchronous_standby_names is empty (or max_wal_senders is 0), and the URL says replicas=synchronous; \
                 legal: the names of those that may take over",
            ),
            (Self::Unsaid, _) => Some(
                "there are replicas, and synchronous_standby_names is empty: one that takes over may lack debits that \
                 were acknowledged; legal: the names of those that may take over, or replicas=asynchronous in the URL \
                 if none ever does",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_wait_unless_there_is_nobody_or_it_is_said() {
        let fine = |said: Replicas| {
            ["synchronous", "none", "asynchronous", ""].map(|found| said.problem(found).is_none())
        };
        assert_eq!(fine(Replicas::Unsaid), [true, true, false, false]);
        assert_eq!(fine(Replicas::Synchronous), [true, false, false, false]);
        assert_eq!(fine(Replicas::Asynchronous), [true; 4]);
        assert_eq!(Replicas::read("synchronous"), Ok(Replicas::Synchronous));
        assert_eq!(Replicas::read("asynchronous"), Ok(Replicas::Asynchronous));
        for other in ["", "none", "Synchronous", "on"] {
            let problem = Replicas::read(other).unwrap_err().to_string();
            assert_eq!(problem, format!("replicas is {other:?}; legal: synchronous, asynchronous"));
        }
    }
}
