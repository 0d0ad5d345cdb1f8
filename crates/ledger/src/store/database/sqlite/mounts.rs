//! The mounts of this process, which Linux lists in `/proc/self/mountinfo` (proc(5)).

use std::path::{Path, PathBuf};

use super::DatabaseError;

/// The mounts that this process sees.
#[derive(Debug, Default)]
pub(super) struct Mounts(Vec<Mount>);

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    point: PathBuf,
    /// True if the whole file system is read-only. If only this mount of it is, another mount may accept writes.
    read_only: bool,
}

/// Reads the mounts. Systems other than Linux mount no single files.
pub(super) fn read() -> Result<Mounts, DatabaseError> {
    if cfg!(not(target_os = "linux")) {
        return Ok(Mounts::default());
    }
    let path = "/proc/self/mountinfo";
    let unseen = format!("the mounts cannot be read: {path}");
    let text = std::fs::read(path).map_err(|error| DatabaseError::unusable(unseen, error))?;
    Ok(Mounts::parse(&text))
}

impl Mounts {
    fn parse(text: &[u8]) -> Self {
        Self(text.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect())
    }

    /// True if a file system is mounted at exactly this path.
    pub(super) fn has_point(&self, path: &Path) -> bool {
        self.0.iter().any(|mount| mount.point == path)
    }

    /// True if a file is on a file system that no process can write to.
    pub(super) fn is_read_only(&self, path: &Path) -> bool {
        let around = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        // If several are mounted at the same point, the last one is on top.
        let nearest = around.max_by_key(|mount| mount.point.components().count());
        nearest.is_some_and(|mount| mount.read_only)
    }
}

impl Mount {
    /// Parses a line like `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw`.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let point = path(unescaped(fields.nth(4)?));
        let mut rest = fields.skip_while(|field| *field != b"-");
        let options = rest.nth(3)?;
        let read_only = options.split(|byte| *byte == b',').any(|option| option == b"ro");
        Some(Self { point, read_only })
    }
}

/// Decodes the octal escapes of spaces and similar characters: a backslash and three digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] if *first == b'\\' => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mounts of a container: its root, the host's disk by folder and by single file, and a disc.
    const TEXT: &str = r"22 1 0:21 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u
23 22 0:22 / /proc rw,nosuid - proc proc rw
31 22 254:1 /srv/data /data rw,relatime shared:7 master:2 - ext4 /dev/vda1 rw,errors=remount-ro
32 22 254:1 /srv/books/ledger.db /books/ledger.db rw,relatime shared:7 - ext4 /dev/vda1 rw
33 22 254:1 /srv/with\040space/a\134b.db /with\040space/a\134b.db rw - ext4 /dev/vda1 rw
34 22 254:1 /srv/shown /shown ro,relatime - ext4 /dev/vda1 rw
35 22 11:0 / /disc ro,nosuid - iso9660 /dev/sr0 ro,utf8
36 35 0:40 / /disc/scratch rw - tmpfs tmpfs rw
37 22 0:41 / /top rw - tmpfs tmpfs rw
38 37 0:42 / /top rw - squashfs /dev/loop0 ro
broken line
";

    #[test]
    fn a_file_that_is_mounted_by_itself_is_found() {
        let mounts = Mounts::parse(TEXT.as_bytes());
        assert_eq!(mounts.0.len(), 10);
        for point in ["/books/ledger.db", "/with space/a\\b.db", "/data"] {
            assert!(mounts.has_point(Path::new(point)), "{point}");
        }
        for file in ["/data/ledger.db", "/books/ledger.db-wal", "/books", "/with\\040space/a"] {
            assert!(!mounts.has_point(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn a_medium_is_read_only_if_no_mount_of_it_can_be_written_to() {
        let mounts = Mounts::parse(TEXT.as_bytes());
        for file in ["/disc/ledger.db", "/disc/scratches/l", "/top/ledger.db"] {
            assert!(mounts.is_read_only(Path::new(file)), "{file}");
        }
        // The third is on a file system that another mount can write to; `remount-ro` is about errors.
        for file in ["/ledger.db", "/data/l", "/shown/l", "/disc/scratch/l", "/disco/l"] {
            assert!(!mounts.is_read_only(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn the_mounts_of_this_machine_can_be_read() {
        let mounts = read().unwrap();
        assert_eq!(mounts.has_point(Path::new("/proc")), cfg!(target_os = "linux"));
    }
}
