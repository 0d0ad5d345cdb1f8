//! The files of a SQLite ledger, and whether they are still the ones that were opened.
//!
//! SQLite finds its log and the log's index by the database's name. One file under two names, or
//! another file under the name in use, makes two ledgers out of one: each has a log of its own and
//! does not see what the other spends. So a ledger is one regular file with one name, and what the
//! names lead to is looked up again before anything is acknowledged.
//!
//! Files are looked at by name and never opened: to close a file drops the locks that SQLite has
//! on it in this process. (It has none on the log.)
//!
//! Names are many and looks take time. A folder's time of change tells
//! whether any name in it was made, taken or moved, so that a look at the folder does for all of
//! them as long as it says no, and the names themselves are looked at a few times a second: a
//! second name elsewhere and a mount change no folder, but nobody can open what has one.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{DatabaseError, mounts, unusable};

const LEGAL: &str = "a file on a local disk, by its one name";

/// How often a log that seems to be missing is looked for: it may just be made or tidied away.
const LOOKS: u32 = 20;

/// Where a ledger is, before it is opened.
#[derive(Debug)]
pub(super) struct Location {
    /// As it was given, made absolute.
    given: PathBuf,
    /// Without symbolic links: what SQLite calls it.
    pub(super) path: PathBuf,
}

/// How long a look at all names is good for while their folder does not change, and how long any look is before
/// something is written: there is another before that is acknowledged.
const GOOD: Duration = Duration::from_millis(100);
const FRESH: Duration = Duration::from_millis(10);

/// Two changes may bear the same time if they are this close: clocks of kernels tick every 10 ms
/// at most, times on disks are in seconds, or two, or finer.
const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(4);

/// The files of an open ledger.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    /// When anything was last looked at.
    last: Option<Instant>,
    /// The last look at all names, if a later change of the folder cannot be missed.
    looked: Option<(Instant, Stamp)>,
    /// Database, log and index; one who only reads may have the first alone.
    watched: Vec<(PathBuf, Identity)>,
    /// The name that was given, if it leads to the database through symbolic links.
    given: Option<PathBuf>,
    /// Where processes say that they had to stop; none for one who only reads.
    marker: Option<PathBuf>,
}

/// The clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The clock that files bear the time of.
    wall: SystemTime,
    /// The clock that never goes back.
    steady: Instant,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { wall: SystemTime::now(), steady: Instant::now() }
    }

    /// Whether less than so long has passed since an earlier moment.
    fn is_within(&self, length: Duration, earlier: Instant) -> bool {
        self.steady.saturating_duration_since(earlier) < length
    }
}

/// What tells a file from all others as long as somebody has it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
}

/// Which folder it is and when a name in it last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    folder: Identity,
    changed: Duration,
}

/// A name that no longer leads to what was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// What is wrong.
    pub(super) problem: String,
    /// Whether nobody may go on with what is there now: acknowledged entries are missing in it.
    pub(super) stops_others: bool,
}

impl Location {
    /// The place that a path leads to, if a ledger may be there.
    pub(super) fn find(given: &str, create: bool) -> Result<Self, DatabaseError> {
        let given = std::path::absolute(given).map_err(unusable)?;
        let place = match std::fs::canonicalize(&given) {
            Ok(path) => {
                identity(&path, &path.symlink_metadata().map_err(unusable)?)?;
                Self { given, path }
            }
            Err(error) if error.kind() == ErrorKind::NotFound && create => Self::new(given)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let problem = format!("{error}; legal: a ledger that is there (init makes one)");
                return Err(unusable(problem));
            }
            Err(error) => return Err(unusable(error)),
        };
        for name in place.names() {
            if mounts::read()?.has_point(&name) {
                let problem = "is mounted by itself, and may have another log elsewhere";
                let name = name.display();
                return Err(unusable(format_args!("{name} {problem}; legal: {LEGAL}")));
            }
        }
        place.check_log()?;
        place.check_link()?;
        Ok(place)
    }

    /// Where a new file will be.
    fn new(given: PathBuf) -> Result<Self, DatabaseError> {
        if given.is_symlink() {
            return Err(unusable("is a symbolic link to nothing; legal: a new file"));
        }
        let (Some(folder), Some(name)) = (given.parent(), given.file_name()) else {
            return Err(unusable("is no file's name; legal: a new file"));
        };
        let folder = folder.canonicalize();
        let folder = folder.map_err(|error| DatabaseError::unusable("its folder", error))?;
        Ok(Self { path: folder.join(name), given })
    }

    /// Database, log and index.
    fn names(&self) -> [PathBuf; 3] {
        ["", "-wal", "-shm"].map(|end| beside(&self.path, end))
    }

    /// SQLite makes the log before the index and deletes it after it. An index alone means that
    /// somebody deleted the log, and with it what was acknowledged and not yet in the database.
    fn check_log(&self) -> Result<(), DatabaseError> {
        let [_, log, index] = self.names();
        for _ in 0..LOOKS {
            if log.exists() || !index.exists() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let (log, index) = (log.display(), index.display());
        let lost = "is gone, and with it what was acknowledged last";
        Err(unusable(format_args!("{log} {lost} ({index} is there)")))
    }

    /// A symbolic link may have taken the place of a file that was moved without its log.
    fn check_link(&self) -> Result<(), DatabaseError> {
        for end in ["-wal", "-stopped"] {
            let left = beside(&self.given, end);
            if left.canonicalize().is_ok_and(|left| left != beside(&self.path, end)) {
                let (left, path) = (left.display(), self.path.display());
                let problem = format!("{left} was left behind when the ledger moved to {path}");
                return Err(unusable(problem));
            }
        }
        Ok(())
    }

    /// Where processes say that they had to stop.
    pub(super) fn marker(&self) -> PathBuf {
        beside(&self.path, "-stopped")
    }

    /// Whether nobody can write here.
    pub(super) fn is_read_only(&self) -> Result<bool, DatabaseError> {
        Ok(mounts::read()?.is_read_only(&self.path))
    }

    /// Whether the log has an index, as it has while anybody uses it.
    pub(super) fn has_index(&self) -> bool {
        beside(&self.path, "-shm").exists()
    }

    /// Whether there may be more than what is in the database itself.
    pub(super) fn has_log(&self) -> bool {
        match beside(&self.path, "-wal").metadata() {
            Ok(metadata) => metadata.len() > 0,
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }

    /// Remembers which files SQLite has opened: one who writes has all three.
    pub(super) fn watch(self, writes: bool) -> Result<Files, DatabaseError> {
        let mut watched = Vec::new();
        for name in self.names() {
            match name.symlink_metadata() {
                Ok(metadata) => {
                    let identity = identity(&name, &metadata)?;
                    watched.push((name, identity));
                }
                Err(error) if error.kind() == ErrorKind::NotFound && !writes => {}
                Err(error) => return Err(DatabaseError::unusable(name.display(), error)),
            }
        }
        let identities: Vec<Identity> = watched.iter().map(|(_, identity)| *identity).collect();
        let are_open = are_open_here(&identities);
        if !are_open.map_err(|error| DatabaseError::unusable("/proc/self/fd", error))? {
            return Err(unusable("its files were exchanged as they were opened; try again"));
        }
        let marker = writes.then(|| self.marker());
        let given = (self.given != self.path).then_some(self.given);
        let folder = self.path.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Files { folder, last: None, looked: None, watched, given, marker })
    }
}

impl Files {
    /// Whether all names still lead to what was opened, and nobody had to stop.
    pub(super) fn check(&mut self, now: Moment) -> Result<(), Change> {
        let stamp = self.folder.symlink_metadata().ok().as_ref().and_then(Stamp::read);
        match self.looked {
            Some((when, seen)) if stamp == Some(seen) && now.is_within(GOOD, when) => {}
            _ => {
                self.check_names()?;
                let is_settled = |stamp: &Stamp| self.given.is_none() && stamp.is_settled(now.wall);
                self.looked = stamp.filter(is_settled).map(|stamp| (now.steady, stamp));
            }
        }
        self.last = Some(now.steady);
        Ok(())
    }

    /// The same, unless it was looked at just now.
    pub(super) fn check_unless_fresh(&mut self, now: Moment) -> Result<(), Change> {
        if self.last.is_some_and(|last| now.is_within(FRESH, last)) {
            return Ok(());
        }
        self.check(now)
    }

    fn check_names(&self) -> Result<(), Change> {
        for (name, known) in &self.watched {
            check(name, name.symlink_metadata(), *known)?;
        }
        if let (Some(name), Some((_, database))) = (&self.given, self.watched.first()) {
            // The ledger itself is all there, and others who use it may go on.
            let here = |change| Change { stops_others: false, ..change };
            check(name, name.metadata(), *database).map_err(here)?;
        }
        match &self.marker {
            Some(marker) if marker.exists() => {
                let problem = format!("another process had to stop: see {}", marker.display());
                Err(Change { problem, stops_others: false })
            }
            _ => Ok(()),
        }
    }

    /// Syncs the log: whoever wrote what was read may have died before its own sync. What is in the database itself was
    /// synced in the log before, and a log is emptied only after the database was synced.
    pub(super) fn sync_log(&self) -> Result<(), DatabaseError> {
        let Some((database, _)) = self.watched.first() else { return Ok(()) };
        let (log, marker) = (beside(database, "-wal"), beside(database, "-stopped"));
        let synced = std::fs::File::open(&log).and_then(|log| log.sync_all());
        match synced {
            // The kernel tells each error once, to whoever asks first.
            _ if marker.exists() => {
                let problem = "a process had to stop here, and what it wrote may be lost: see";
                Err(unusable(format_args!("{problem} {}", marker.display())))
            }
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(unusable(format_args!("{} cannot be synced: {error}", log.display())))
            }
            _ => Ok(()),
        }
    }

    /// Tells other processes that they must not go on.
    pub(super) fn stop_others(&self, problem: &str) {
        if let Some(marker) = &self.marker {
            // If the disk takes no file either, there is nothing more to be done.
            let _ = std::fs::write(marker, format!("{problem}\n"));
        }
    }

    /// Whether the log may be written back to the database when it is closed, and deleted. Where
    /// another file has taken a name, that would damage or delete what others rely on; a log that
    /// is merely gone is saved by it.
    pub(super) fn may_write_back(&self) -> bool {
        let fits =
            |(index, (name, known)): (usize, &(PathBuf, Identity))| match name.symlink_metadata() {
                Ok(metadata) => identity(name, &metadata) == Ok(*known),
                Err(error) => error.kind() == ErrorKind::NotFound && index == 1,
            };
        self.watched.iter().enumerate().all(fits)
    }
}

impl Stamp {
    #[cfg(unix)]
    fn read(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
        let changed = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        Some(Self { folder: inode(metadata)?.0, changed })
    }

    #[cfg(not(unix))]
    fn read(_: &Metadata) -> Option<Self> {
        None
    }

    /// Whether any change from this moment on bears another time.
    fn is_settled(&self, now: SystemTime) -> bool {
        let tick = if self.changed.subsec_nanos() == 0 { COARSE_TICK } else { TICK };
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        now.checked_sub(self.changed).is_some_and(|age| age > tick)
    }
}

/// Whether a name leads to a file that is known, and alone does.
fn check(name: &Path, found: io::Result<Metadata>, known: Identity) -> Result<(), Change> {
    let shown = name.display();
    let metadata = match found {
        Ok(metadata) => metadata,
        Err(error) => {
            let stops_others = error.kind() == ErrorKind::NotFound;
            return Err(Change { problem: format!("{shown}: {error}"), stops_others });
        }
    };
    match inode(&metadata) {
        Some((found, _)) if found != known => {
            let problem = format!("{shown} is no longer the file that was opened");
            Err(Change { problem, stops_others: true })
        }
        // A second name does no harm to what is there: nobody opens either.
        _ => identity(name, &metadata)
            .map(drop)
            .map_err(|problem| Change { problem: problem.to_string(), stops_others: false }),
    }
}

/// The identity of a regular file with one name.
fn identity(name: &Path, metadata: &Metadata) -> Result<Identity, DatabaseError> {
    let shown = name.display();
    let problem = match inode(metadata) {
        _ if !metadata.is_file() => format!("{shown} is no regular file; legal: {LEGAL}"),
        Some((identity, 1)) => return Ok(identity),
        Some((_, links)) => format!("{shown} has {links} names (hard links); legal: {LEGAL}"),
        None => "files cannot be told apart on this system; legal: PostgreSQL".to_owned(),
    };
    Err(DatabaseError::Unusable(problem))
}

/// A file's identity, and how many names it has.
#[cfg(unix)]
fn inode(metadata: &Metadata) -> Option<(Identity, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((Identity { device: metadata.dev(), number: metadata.ino() }, metadata.nlink()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(Identity, u64)> {
    None
}

/// Whether this process has all of these files open: SQLite shares an index among a process's
/// connections, and a name may have been given to another file since it was opened.
#[cfg(target_os = "linux")]
fn are_open_here(identities: &[Identity]) -> io::Result<bool> {
    let mut missing = identities.to_vec();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        // A file that was closed meanwhile is none of ours.
        if let Some((found, _)) = entry?.path().metadata().ok().as_ref().and_then(inode) {
            missing.retain(|identity| *identity != found);
        }
    }
    Ok(missing.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn are_open_here(_: &[Identity]) -> io::Result<bool> {
    Ok(true)
}

/// A path with an ending.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Makes an empty file that nobody but its owner can read: answers and private states will be in
/// it, and SQLite gives log and index the same mode.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Makes the names in a file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| io::Error::other(format!("its folder cannot be synced: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in a folder, and a folder elsewhere on the same disk.
    fn watched() -> (tempfile::TempDir, PathBuf, Files) {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("ledger");
        std::fs::create_dir(&inner).unwrap();
        let file = inner.join("file");
        std::fs::write(&file, b"").unwrap();
        let known = identity(&file, &file.symlink_metadata().unwrap()).unwrap();
        let watched = vec![(file.clone(), known)];
        let files =
            Files { folder: inner, last: None, looked: None, watched, given: None, marker: None };
        (folder, file, files)
    }

    /// So long after the files were made.
    fn after(milliseconds: u64) -> Moment {
        let length = Duration::from_millis(milliseconds);
        let now = Moment::now();
        Moment { wall: now.wall + length, steady: now.steady + length }
    }

    /// The name of a file elsewhere, which changes no time in this folder.
    fn link(folder: &tempfile::TempDir, file: &Path) -> PathBuf {
        let other = folder.path().join("other");
        std::fs::hard_link(file, &other).unwrap();
        other
    }

    const HOUR: u64 = 3_600_000;

    #[test]
    fn names_are_looked_at_ten_times_a_second_while_their_folder_stays_as_it_is() {
        let (folder, file, mut files) = watched();
        let first = after(HOUR);
        let later = |milliseconds| {
            let length = Duration::from_millis(milliseconds);
            Moment { wall: first.wall + length, steady: first.steady + length }
        };
        files.check(first).unwrap();
        let other = link(&folder, &file);
        assert_eq!(files.check(later(99)), Ok(()));
        assert!(files.check(later(100)).unwrap_err().problem.contains("has 2 names"));
        // Before a write nothing is looked at that was looked at just now.
        std::fs::remove_file(other).unwrap();
        files.check(later(200)).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(files.check_unless_fresh(later(209)), Ok(()));
        let gone = files.check_unless_fresh(later(210)).unwrap_err();
        assert!(gone.problem.contains("No such file") && gone.stops_others);
    }

    #[test]
    fn a_folder_that_changed_just_now_vouches_for_nothing() {
        let (folder, file, mut files) = watched();
        let stamp = Stamp::read(&files.folder.symlink_metadata().unwrap()).unwrap();
        let tick = if stamp.changed.subsec_nanos() == 0 { COARSE_TICK } else { TICK };
        // Another change may bear the same time until then.
        let at = |age| Moment { wall: UNIX_EPOCH + stamp.changed + age, steady: Instant::now() };
        files.check(at(tick)).unwrap();
        assert_eq!(files.looked, None);
        let other = link(&folder, &file);
        assert!(files.check(at(tick)).is_err());
        std::fs::remove_file(other).unwrap();
        let now = at(tick + Duration::from_nanos(1));
        files.check(now).unwrap();
        assert_eq!(files.looked, Some((now.steady, stamp)));
    }
}
