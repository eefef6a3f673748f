//! Where a path leads: component by component through opened folders, as the kernel goes.
//!
//! Each folder on the way is opened without following links, and a link is read and followed by
//! hand, so that what was checked is what is held: [`Opened`] keeps the last folder open, and an
//! operation through it cannot be led elsewhere by a link that is swapped in afterwards.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, fstat, ftruncate, mkdirat, openat, readlinkat, statat,
    unlinkat,
};
use rustix::io::Errno;

/// The most links that are followed, as the kernel has it.
const LINKS_MAX: usize = 40;

/// Why a path leads nowhere.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolvable {
    /// Links that point at each other.
    #[error("the path follows more than {LINKS_MAX} symbolic links")]
    TooManyLinks,
    /// A file stands where a folder must be.
    #[error("`{0}` is no folder")]
    NoFolder(PathBuf),
    /// A climb out of a folder that does not exist.
    #[error("the path climbs out of `{0}`, which does not exist")]
    ClimbFromMissing(PathBuf),
    /// The file system refused to look.
    #[error("`{path}` cannot be looked at")]
    Io {
        /// Where the way ended.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
}

/// Whether a link at the end of the path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLink {
    Follow,
    Keep,
}

/// Which file it is, whatever its names: its device and its number there.
pub(crate) type Identity = (u64, u64);

/// What stands at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing yet, or not all folders on the way.
    Missing,
    Folder,
    /// A file with this many names.
    File {
        names: u64,
        identity: Identity,
    },
    /// A link that is kept.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// A path that was followed to its end, with its last existing folder held open.
#[derive(Debug)]
pub struct Opened {
    folder: OwnedFd,
    /// The names below `folder`: one, more when folders are missing, none when the way climbed.
    rest: Vec<String>,
    path: PathBuf,
    end: End,
}

/// The flags that open a folder for looking only, never through a link.
const FOLDER: OFlags = if cfg!(any(target_os = "linux", target_os = "android")) {
    OFlags::from_bits_retain(
        OFlags::DIRECTORY.bits() | OFlags::NOFOLLOW.bits() | OFlags::CLOEXEC.bits() | path_only(),
    )
} else {
    OFlags::from_bits_retain(
        OFlags::DIRECTORY.bits() | OFlags::NOFOLLOW.bits() | OFlags::CLOEXEC.bits(),
    )
};

#[cfg(any(target_os = "linux", target_os = "android"))]
const fn path_only() -> u32 {
    OFlags::PATH.bits()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
const fn path_only() -> u32 {
    0
}

/// Follows `path`, which is seen from the absolute folder `base`.
pub(crate) fn resolve(path: &str, base: &Path, last: LastLink) -> Result<Opened, Unresolvable> {
    let base = base.to_string_lossy();
    let mut way: VecDeque<String> = VecDeque::new();
    if !path.starts_with('/') {
        way.extend(base.split('/').map(str::to_owned));
    }
    way.extend(path.split('/').map(str::to_owned));
    // A slash or a dot at the end asks for a folder, as the kernel has it.
    let wants_folder = path.ends_with('/') || path.ends_with("/.");
    let opened = Walk::start()?.follow(way, if wants_folder { LastLink::Follow } else { last })?;
    match opened.end {
        End::File { .. } | End::Special if wants_folder => Err(Unresolvable::NoFolder(opened.path)),
        End::Missing | End::Folder | End::Link | End::File { .. } | End::Special => Ok(opened),
    }
}

/// How many names a file has; the width of the number differs between systems.
#[allow(clippy::useless_conversion, reason = "not `u64` everywhere")]
fn links(stat: &rustix::fs::Stat) -> u64 {
    u64::from(stat.st_nlink)
}

/// Which file a `stat` is of; the width of the numbers differs between systems.
#[allow(
    clippy::unnecessary_cast,
    clippy::useless_conversion,
    clippy::cast_sign_loss,
    reason = "not `u64` everywhere"
)]
fn identity(stat: &rustix::fs::Stat) -> Identity {
    (stat.st_dev as u64, u64::from(stat.st_ino))
}

/// Whether it is an ordinary file without a second name, which no other folder can share.
fn is_only_name(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && links(stat) <= 1
}

struct Walk {
    folder: OwnedFd,
    path: PathBuf,
    links: usize,
}

impl Walk {
    fn start() -> Result<Self, Unresolvable> {
        Ok(Self {
            folder: root()?,
            path: PathBuf::from("/"),
            links: 0,
        })
    }

    fn follow(mut self, mut way: VecDeque<String>, last: LastLink) -> Result<Opened, Unresolvable> {
        way.retain(|name| !name.is_empty() && name != ".");
        while let Some(name) = way.pop_front() {
            if name == ".." {
                self.climb()?;
                continue;
            }
            let at_end = way.is_empty();
            let stat = match statat(&self.folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => return self.missing(name, way),
                Err(errno) => return Err(self.refused(&name, errno)),
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink if at_end && last == LastLink::Keep => {
                    return Ok(self.ended(Some(name), End::Link));
                }
                FileType::Symlink => self.follow_link(&name, &mut way)?,
                FileType::Directory if at_end => return Ok(self.ended(Some(name), End::Folder)),
                FileType::Directory => self.enter(&name)?,
                kind => {
                    if !at_end {
                        return Err(Unresolvable::NoFolder(self.path.join(&name)));
                    }
                    let end = if kind == FileType::RegularFile {
                        End::File {
                            names: links(&stat),
                            identity: identity(&stat),
                        }
                    } else {
                        End::Special
                    };
                    return Ok(self.ended(Some(name), end));
                }
            }
        }
        Ok(self.ended(None, End::Folder))
    }

    fn enter(&mut self, name: &str) -> Result<(), Unresolvable> {
        self.folder = openat(&self.folder, name, FOLDER, Mode::empty())
            .map_err(|errno| self.refused(name, errno))?;
        self.path.push(name);
        Ok(())
    }

    fn climb(&mut self) -> Result<(), Unresolvable> {
        self.folder = openat(&self.folder, "..", FOLDER, Mode::empty())
            .map_err(|errno| self.refused("..", errno))?;
        self.path.pop();
        if self.path.as_os_str().is_empty() {
            self.path.push("/");
        }
        Ok(())
    }

    fn follow_link(&mut self, name: &str, way: &mut VecDeque<String>) -> Result<(), Unresolvable> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(Unresolvable::TooManyLinks);
        }
        let target = readlinkat(&self.folder, name, Vec::new())
            .map_err(|errno| self.refused(name, errno))?;
        let target = target.to_string_lossy().into_owned();
        if target.starts_with('/') {
            self.folder = root()?;
            self.path = PathBuf::from("/");
        }
        for name in target.split('/').rev() {
            if !name.is_empty() && name != "." {
                way.push_front(name.to_owned());
            }
        }
        Ok(())
    }

    /// The rest of the way does not exist: it may be created, but nobody climbs out of it.
    fn missing(self, name: String, way: VecDeque<String>) -> Result<Opened, Unresolvable> {
        if way.iter().any(|name| name == "..") {
            return Err(Unresolvable::ClimbFromMissing(self.path.join(name)));
        }
        let mut path = self.path.join(&name);
        path.extend(&way);
        let mut rest = vec![name];
        rest.extend(way);
        Ok(Opened {
            folder: self.folder,
            rest,
            path,
            end: End::Missing,
        })
    }

    fn ended(self, name: Option<String>, end: End) -> Opened {
        let path = match &name {
            Some(name) => self.path.join(name),
            None => self.path,
        };
        Opened {
            folder: self.folder,
            rest: name.into_iter().collect(),
            path,
            end,
        }
    }

    fn refused(&self, name: &str, errno: Errno) -> Unresolvable {
        Unresolvable::Io {
            path: self.path.join(name),
            source: errno.into(),
        }
    }
}

fn root() -> Result<OwnedFd, Unresolvable> {
    rustix::fs::open("/", FOLDER, Mode::empty()).map_err(|errno| Unresolvable::Io {
        path: PathBuf::from("/"),
        source: errno.into(),
    })
}

impl Opened {
    /// Where the path leads, without links, as it was when it was followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// Opens the file for reading, through the folder that was checked.
    ///
    /// # Errors
    ///
    /// Returns the file system's error, which it is too when a link has been put in the file's
    /// place since the check. A file that has come there since and has a second name elsewhere, or
    /// is no ordinary file, is [`io::ErrorKind::PermissionDenied`].
    pub fn read(&self) -> io::Result<File> {
        // Not blocked by a pipe that nobody writes into.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(&self.folder, self.name()?, flags, Mode::empty())?;
        let stat = fstat(&file)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let same = match self.end {
            // A number is given again once its file is gone: the kind and the names count too.
            End::File {
                names,
                identity: was,
            } => kind == FileType::RegularFile && was == identity(&stat) && links(&stat) <= names,
            End::Folder => kind == FileType::Directory,
            End::Missing | End::Link | End::Special => false,
        };
        if same || is_only_name(&stat) {
            Ok(file.into())
        } else {
            Err(Errno::ACCESS.into())
        }
    }

    /// Opens the file for writing, creating it and its missing folders, through the folder that
    /// was checked. What it holds is cut off.
    ///
    /// # Errors
    ///
    /// Returns the file system's error, which it is too when a link has been put in the place of
    /// the file, or of a folder on the way, since the check. A file that has a second name by now,
    /// or is no ordinary file any more, is [`io::ErrorKind::PermissionDenied`] and keeps its
    /// content.
    pub fn write(&self) -> io::Result<File> {
        // Cut off only when it is known what was opened; not blocked by a pipe that nobody reads.
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mode = Mode::from_raw_mode(0o666);
        let Some((name, folders)) = self.rest.split_last() else {
            return Err(Errno::ISDIR.into());
        };
        let mut folder = None;
        for name in folders {
            let above = folder.as_ref().unwrap_or(&self.folder);
            match mkdirat(above, name.as_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            folder = Some(openat(above, name.as_str(), FOLDER, Mode::empty())?);
        }
        let above = folder.as_ref().unwrap_or(&self.folder);
        let file = openat(above, name.as_str(), flags, mode)?;
        if !is_only_name(&fstat(&file)?) {
            return Err(Errno::ACCESS.into());
        }
        ftruncate(&file, 0)?;
        Ok(file.into())
    }

    /// Removes the file, the link or the empty folder, through the folder that was checked.
    ///
    /// # Errors
    ///
    /// Returns the file system's error.
    pub fn remove(&self) -> io::Result<()> {
        let flags = match self.end {
            End::Folder => AtFlags::REMOVEDIR,
            End::Missing | End::File { .. } | End::Link | End::Special => AtFlags::empty(),
        };
        Ok(unlinkat(&self.folder, self.name()?, flags)?)
    }

    fn name(&self) -> io::Result<&str> {
        match self.rest.as_slice() {
            [name] => Ok(name),
            [] => Err(Errno::ISDIR.into()),
            _ => Err(Errno::NOENT.into()),
        }
    }
}
