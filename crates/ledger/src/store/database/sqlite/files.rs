//! The files of a SQLite ledger, and checks that they still are the files that were opened.
//!
//! SQLite finds its log and the log's index by the database's name. One file under two names, or another file under the
//! name in use, would split a ledger in two: each half has a log of its own and does not see what the other spends. So
//! a ledger must be one regular file with one name, and before anything is acknowledged the names are checked again.
//!
//! Files are checked by name and never opened, because closing a file drops the locks that SQLite holds on it in this
//! process. (SQLite holds no lock on the log.)
//!
//! Checking every name takes time. The time of a folder's last change shows if any name in it was created, removed or
//! moved. As long as the folder has not changed, the names themselves are checked only ten times a second. These checks
//! find what does not change the folder: a second name in another folder, or a mount over a name. Nobody can open a
//! ledger that has either.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{DatabaseError, mounts, unusable};

const LEGAL: &str = "a file on a local disk, by its one name";

/// The number of looks for a log that seems to be missing: another process may just be creating or deleting it.
const LOOKS: u32 = 20;

/// The place of a ledger before it is opened.
#[derive(Debug)]
pub(super) struct FileLocation {
    /// The given path, made absolute.
    given: PathBuf,
    /// The path without symbolic links, which SQLite uses.
    pub(super) path: PathBuf,
}

/// The time for which a check of all names is valid while their folder does not change.
const CHECK_VALIDITY: Duration = Duration::from_millis(100);
/// The time for which any check is valid when a write begins. Every write is checked again before it is acknowledged.
const WRITE_CHECK_VALIDITY: Duration = Duration::from_millis(10);

/// Two changes that are this close may have the same time: the clocks of kernels tick at least every 10 ms. The times
/// on some disks are in units of one or two seconds.
const TICK: Duration = Duration::from_millis(20);
const COARSE_TICK: Duration = Duration::from_secs(4);

/// The files of an open ledger.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    /// The time of the last check.
    last: Option<Instant>,
    /// The time of the last check of all names, and the folder's stamp at that time. `None` if a later change of the
    /// folder could leave this stamp as it is.
    looked: Option<(Instant, FolderStamp)>,
    /// The database, the log and the index. A reader may have the database alone.
    watched: Vec<(PathBuf, FileIdentity)>,
    /// The given name, if it leads to the database through symbolic links.
    given: Option<PathBuf>,
    /// The file by which a process that had to stop warns others; `None` for readers.
    marker: Option<PathBuf>,
}

/// One moment on two clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// The clock of the times of files.
    wall: SystemTime,
    /// The clock that never goes back.
    steady: Instant,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { wall: SystemTime::now(), steady: Instant::now() }
    }

    /// True if less than `length` has passed since an earlier moment.
    fn is_within(&self, length: Duration, earlier: Instant) -> bool {
        self.steady.saturating_duration_since(earlier) < length
    }
}

/// The identity of a file, unique as long as some process has the file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    number: u64,
}

/// A folder's identity, and the time when a name in it last changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FolderStamp {
    folder: FileIdentity,
    changed: Duration,
}

/// The error for a name that no longer leads to the file that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileChangeError {
    /// The problem, in words.
    pub(super) problem: String,
    /// True if the file now under the name lacks acknowledged entries, so that all processes must stop.
    pub(super) stops_others: bool,
}

impl FileLocation {
    /// Resolves a path, and checks that a ledger may be there.
    pub(super) fn find(given: &str, create: bool) -> Result<Self, DatabaseError> {
        let given = std::path::absolute(given).map_err(unusable)?;
        let place = match std::fs::canonicalize(&given) {
            Ok(path) => {
                identity(&path, &path.symlink_metadata().map_err(unusable)?)?;
                Self { given, path }
            }
            Err(error) if error.kind() == ErrorKind::NotFound && create => Self::new(given)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let problem = format!(
                    "{error}; legal: the path of an existing ledger (counterpoint ledger init creates a new one, which knows nothing of earlier charges)"
                );
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

    /// The location of a file that does not exist yet.
    fn new(given: PathBuf) -> Result<Self, DatabaseError> {
        if given.is_symlink() {
            return Err(unusable("is a symbolic link to nothing; legal: a new file"));
        }
        let (Some(folder), Some(name)) = (given.parent(), given.file_name()) else {
            return Err(unusable("is not the name of a file; legal: a new file"));
        };
        let folder = folder.canonicalize();
        let folder = folder.map_err(|error| DatabaseError::unusable("its folder", error))?;
        Ok(Self { path: folder.join(name), given })
    }

    /// The names of the database, the log and the index.
    fn names(&self) -> [PathBuf; 3] {
        ["", "-wal", "-shm"].map(|end| beside(&self.path, end))
    }

    /// Checks that the log is not missing. SQLite creates the log before the index and deletes it after the index. An
    /// index without a log means that somebody deleted the log, and with it acknowledged entries that were not yet in
    /// the database.
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

    /// Checks that no symbolic link has taken the place of a file that was moved without its log.
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

    /// The file by which a process that had to stop warns others.
    pub(super) fn marker(&self) -> PathBuf {
        beside(&self.path, "-stopped")
    }

    /// True if no process can write to this file system.
    pub(super) fn is_read_only(&self) -> Result<bool, DatabaseError> {
        Ok(mounts::read()?.is_read_only(&self.path))
    }

    /// True if the log has an index. It has one while any process uses the ledger.
    pub(super) fn has_index(&self) -> bool {
        beside(&self.path, "-shm").exists()
    }

    /// True if the log may hold entries that are not in the database file.
    pub(super) fn has_log(&self) -> bool {
        match beside(&self.path, "-wal").metadata() {
            Ok(metadata) => metadata.len() > 0,
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
    }

    /// Records the identities of the files that SQLite has opened. A writer has all three files.
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
        let identities: Vec<FileIdentity> = watched.iter().map(|(_, identity)| *identity).collect();
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
    /// Checks that all names still lead to the files that were opened, and that no process had to stop.
    pub(super) fn check(&mut self, now: Moment) -> Result<(), FileChangeError> {
        let stamp = self.folder.symlink_metadata().ok().as_ref().and_then(FolderStamp::read);
        match self.looked {
            Some((when, seen)) if stamp == Some(seen) && now.is_within(CHECK_VALIDITY, when) => {}
            _ => {
                self.check_names()?;
                let is_settled =
                    |stamp: &FolderStamp| self.given.is_none() && stamp.is_settled(now.wall);
                self.looked = stamp.filter(is_settled).map(|stamp| (now.steady, stamp));
            }
        }
        self.last = Some(now.steady);
        Ok(())
    }

    /// Checks in the same way, unless the last check was just now.
    pub(super) fn check_unless_fresh(&mut self, now: Moment) -> Result<(), FileChangeError> {
        if self.last.is_some_and(|last| now.is_within(WRITE_CHECK_VALIDITY, last)) {
            return Ok(());
        }
        self.check(now)
    }

    fn check_names(&self) -> Result<(), FileChangeError> {
        for (name, known) in &self.watched {
            check(name, name.symlink_metadata(), *known)?;
        }
        if let (Some(name), Some((_, database))) = (&self.given, self.watched.first()) {
            // The ledger itself is complete, so other processes may continue.
            let here = |change| FileChangeError { stops_others: false, ..change };
            check(name, name.metadata(), *database).map_err(here)?;
        }
        match &self.marker {
            Some(marker) if marker.exists() => {
                let problem = format!("another process had to stop: see {}", marker.display());
                Err(FileChangeError { problem, stops_others: false })
            }
            _ => Ok(()),
        }
    }

    /// Syncs the log, because the process that wrote the rows that were read may have died before its sync. Rows in the
    /// database file were synced in the log before, and a log is emptied only after the database file was synced.
    pub(super) fn sync_log(&self) -> Result<(), DatabaseError> {
        let Some((database, _)) = self.watched.first() else { return Ok(()) };
        let (log, marker) = (beside(database, "-wal"), beside(database, "-stopped"));
        let synced = std::fs::File::open(&log).and_then(|log| log.sync_all());
        match synced {
            // The kernel reports each error once, to the first process that asks.
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

    /// Tells other processes that they must stop.
    pub(super) fn stop_others(&self, problem: &str) {
        if let Some(marker) = &self.marker {
            // If the disk does not take this file either, nothing more can be done.
            let _ = std::fs::write(marker, format!("{problem}\n"));
        }
    }

    /// True if the log may be written back to the database, and deleted, when the connection closes. If another file
    /// has taken a name, that would damage or delete a file that others rely on. If the log's name is merely gone,
    /// writing the log back saves its content.
    pub(super) fn may_write_back(&self) -> bool {
        let fits = |(index, (name, known)): (usize, &(PathBuf, FileIdentity))| match name
            .symlink_metadata()
        {
            Ok(metadata) => identity(name, &metadata) == Ok(*known),
            Err(error) => error.kind() == ErrorKind::NotFound && index == 1,
        };
        self.watched.iter().enumerate().all(fits)
    }
}

impl FolderStamp {
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

    /// True if every later change of the folder will have another time.
    fn is_settled(&self, now: SystemTime) -> bool {
        let tick = if self.changed.subsec_nanos() == 0 { COARSE_TICK } else { TICK };
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        now.checked_sub(self.changed).is_some_and(|age| age > tick)
    }
}

/// Checks that a name leads to a known file, and that the file has no other name.
fn check(
    name: &Path,
    found: io::Result<Metadata>,
    known: FileIdentity,
) -> Result<(), FileChangeError> {
    let shown = name.display();
    let metadata = match found {
        Ok(metadata) => metadata,
        Err(error) => {
            let stops_others = error.kind() == ErrorKind::NotFound;
            return Err(FileChangeError { problem: format!("{shown}: {error}"), stops_others });
        }
    };
    match inode(&metadata) {
        Some((found, _)) if found != known => {
            let problem = format!("{shown} is no longer the file that was opened");
            Err(FileChangeError { problem, stops_others: true })
        }
        // A second name does not harm the ledger, because nobody can open the file under either name.
        _ => identity(name, &metadata).map(drop).map_err(|problem| FileChangeError {
            problem: problem.to_string(),
            stops_others: false,
        }),
    }
}

/// The identity of a file, which must be a regular file with one name.
fn identity(name: &Path, metadata: &Metadata) -> Result<FileIdentity, DatabaseError> {
    let shown = name.display();
    let problem = match inode(metadata) {
        _ if !metadata.is_file() => format!("{shown} is no regular file; legal: {LEGAL}"),
        Some((identity, 1)) => return Ok(identity),
        Some((_, links)) => format!("{shown} has {links} names (hard links); legal: {LEGAL}"),
        None => "files cannot be told apart on this system; legal: PostgreSQL".to_owned(),
    };
    Err(DatabaseError::Unusable(problem))
}

/// A file's identity, and the number of its names.
#[cfg(unix)]
fn inode(metadata: &Metadata) -> Option<(FileIdentity, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((FileIdentity { device: metadata.dev(), number: metadata.ino() }, metadata.nlink()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(FileIdentity, u64)> {
    None
}

/// True if this process has all of these files open. SQLite shares an index among the connections of a process, and a
/// name may have been given to another file since it was opened.
#[cfg(target_os = "linux")]
fn are_open_here(identities: &[FileIdentity]) -> io::Result<bool> {
    let mut missing = identities.to_vec();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        // A file that was closed meanwhile is not one of the ledger's.
        if let Some((found, _)) = entry?.path().metadata().ok().as_ref().and_then(inode) {
            missing.retain(|identity| *identity != found);
        }
    }
    Ok(missing.is_empty())
}

#[cfg(not(target_os = "linux"))]
fn are_open_here(_: &[FileIdentity]) -> io::Result<bool> {
    Ok(true)
}

/// A path with an ending appended to its name.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Creates an empty file that only its owner can read. It will hold answers and private states, and SQLite gives the
/// log and the index the same mode.
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

    /// A moment this long after the files were created.
    fn after(milliseconds: u64) -> Moment {
        let length = Duration::from_millis(milliseconds);
        let now = Moment::now();
        Moment { wall: now.wall + length, steady: now.steady + length }
    }

    /// Gives the file a second name in another folder, which does not change the time of its own folder.
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
        // A check before a write is skipped if the last check was just now.
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
        let stamp = FolderStamp::read(&files.folder.symlink_metadata().unwrap()).unwrap();
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
