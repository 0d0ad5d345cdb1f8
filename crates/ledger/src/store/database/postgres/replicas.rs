//! Replicas of a server: a replica that takes over must hold every transaction that was acknowledged.

use super::DatabaseError;

/// The setting `replicas=` of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Replicas {
    /// No setting: there are no replicas, or commits wait for them.
    #[default]
    Unspecified,
    /// Commits always wait for a replica.
    Synchronous,
    /// Commits need not wait: the operator knows that a promoted replica may lack debits.
    Asynchronous,
}

/// Finds out which replicas a server has. While the names of synchronous replicas are set, commits wait, even if no
/// such replica is connected. Without names, every connection that streams, and every permanent replication slot, is a
/// replica that may lack the last transactions. A base backup in progress does not count, unless the role may not see
/// that the connection is a backup's. (Connections are listed only if anything streams, because the view
/// `pg_stat_replication` looks at all of them.)
pub(super) const REPLICA_QUERY: &str = "SELECT CASE \
    WHEN current_setting('synchronous_standby_names') <> '' AND current_setting('max_wal_senders') <> '0' \
      THEN 'synchronous' \
    WHEN EXISTS (SELECT FROM pg_stat_get_wal_senders()) \
        AND EXISTS (SELECT FROM pg_stat_replication WHERE application_name IS DISTINCT FROM 'pg_basebackup') \
      OR EXISTS (SELECT FROM pg_get_replication_slots() WHERE slot_type = 'physical' AND NOT temporary) \
      THEN 'asynchronous' \
    ELSE 'none' END";

/// The result of [`REPLICA_QUERY`] where commits wait.
pub(super) const SYNCHRONOUS: &str = "synchronous";

impl Replicas {
    /// Reads the value of the setting.
    pub(super) fn read(value: &str) -> Result<Self, DatabaseError> {
        match value {
            "synchronous" => Ok(Self::Synchronous),
            "asynchronous" => Ok(Self::Asynchronous),
            other => Err(DatabaseError::Unusable(format!(
                "replicas is {other:?}; legal: synchronous, asynchronous"
            ))),
        }
    }

    /// True if the state of replicas must be checked.
    pub(super) fn needs_check(self) -> bool {
        self != Self::Asynchronous
    }

    /// The reason why the result of [`REPLICA_QUERY`] is not safe under this setting; `None` if it is.
    pub(super) fn problem(self, found: &str) -> Option<&'static str> {
        match (self, found) {
            (Self::Asynchronous, _) | (_, SYNCHRONOUS) | (Self::Unspecified, "none") => None,
            (Self::Synchronous, _) => Some(
                "synchronous_standby_names is empty (or max_wal_senders is 0), and the URL says replicas=synchronous; \
                 legal: the names of the replicas that may take over",
            ),
            (Self::Unspecified, _) => Some(
                "there are replicas, and synchronous_standby_names is empty: one that takes over may lack debits that \
                 were acknowledged; legal: the names of the replicas that may take over, or replicas=asynchronous in \
                 the URL if none ever does",
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
        assert_eq!(fine(Replicas::Unspecified), [true, true, false, false]);
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
