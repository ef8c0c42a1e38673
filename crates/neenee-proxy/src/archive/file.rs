//! An archive in a folder: append-only files of checked records, flushed before a projection counts.
//! Deliberately simple: one writer per file, an index in memory, nothing is ever removed.

use std::collections::hash_map::Entry;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Archive, ArchiveError, Node, Original, Projection, ResultKey};

/// Kind, length, hash of the content.
const HEAD: usize = 1 + 4 + 32;
const ORIGINAL: u8 = b'O';
const PROJECTION: u8 = b'P';

/// More proxies than anybody runs on one folder.
const FILES: u32 = 1_000;

/// Originals and projections in files of one folder. Several processes may share the folder: each
/// writes a file of its own, and knows of the others' what was there when it started.
pub struct FileArchive {
    folder: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    /// The file that is written, and its number.
    file: File,
    number: u32,
    end: u64,
    originals: FxHashMap<[u8; 32], Place>,
    /// By the node of the projection.
    projections: FxHashMap<Node, Vec<Place>>,
    /// Which original a result had. The key tells what it said, whatever conversation it is of.
    results: FxHashMap<ResultKey, [u8; 32]>,
}

#[derive(Clone, Copy)]
struct Place {
    file: u32,
    at: u64,
    len: u32,
}

/// A projection as it is written.
#[derive(Serialize, Deserialize)]
struct Record<P> {
    projection: P,
    /// The hash of each result's original, in the order of the results.
    originals: Vec<blake3::Hash>,
}

impl FileArchive {
    /// Opens a folder, which is made when it is not there, and reads what it holds.
    ///
    /// # Errors
    /// When the folder cannot be made, read or written.
    pub fn open(folder: impl Into<PathBuf>) -> Result<FileArchive, ArchiveError> {
        let folder = folder.into();
        make_private(&folder)?;
        let (file, number) = claim(&folder)?;
        let mut inner = Inner {
            file,
            number,
            end: 0,
            originals: FxHashMap::default(),
            projections: FxHashMap::default(),
            results: FxHashMap::default(),
        };
        for other in 0..FILES {
            let path = path(&folder, other);
            let indexed = File::open(&path)
                .map_err(ArchiveError::from)
                .and_then(|file| inner.index(other, file));
            match indexed {
                Ok(end) if other == number => {
                    // What a crash left half written was never told to be kept.
                    inner.file.set_len(end)?;
                    inner.end = end;
                }
                Err(error) if other == number => return Err(error),
                // What another process holds, or holds no more, is not needed to go on.
                Ok(_) | Err(_) => {}
            }
        }
        inner.file.seek(SeekFrom::Start(inner.end))?;
        inner.file.sync_all()?;
        sync_folder(&folder)?;
        Ok(FileArchive {
            folder,
            inner: Mutex::new(inner),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, place: Place) -> Result<Vec<u8>, ArchiveError> {
        let mut file = File::open(path(&self.folder, place.file))?;
        file.seek(SeekFrom::Start(place.at))?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head)?;
        let mut content = vec![0; place.len as usize];
        file.read_exact(&mut content)?;
        if blake3::hash(&content) == head[5..] {
            Ok(content)
        } else {
            let at = place.at;
            Err(ArchiveError::Damaged(format!(
                "the record at byte {at} of file {} does not fit its hash",
                place.file
            )))
        }
    }
}

impl Archive for FileArchive {
    fn record(
        &self,
        projection: &Projection,
        originals: &[Original<'_>],
    ) -> Result<(), ArchiveError> {
        let hashes: Vec<blake3::Hash> = originals
            .iter()
            .map(|original| blake3::hash(original.content))
            .collect();
        let record = serde_json::to_vec(&Record {
            projection,
            originals: hashes.clone(),
        })
        .map_err(io::Error::from)?;
        let mut inner = self.lock();
        let mut batch = Vec::new();
        let mut places = Vec::new();
        for (original, hash) in originals.iter().zip(&hashes) {
            // The same content is kept once, whoever sent it.
            if !inner.originals.contains_key(hash.as_bytes()) {
                let place = inner.frame(&mut batch, ORIGINAL, hash, original.content)?;
                places.push((*hash.as_bytes(), place));
            }
        }
        let place = inner.frame(&mut batch, PROJECTION, &blake3::hash(&record), &record)?;
        inner.append(&batch)?;
        inner.originals.extend(places);
        inner.know(projection, &hashes, place);
        Ok(())
    }

    fn restore(&self, nodes: &[Node]) -> Result<Vec<Projection>, ArchiveError> {
        let places: Vec<Place> = {
            let inner = self.lock();
            let known = nodes.iter().filter_map(|node| inner.projections.get(node));
            known.flatten().copied().collect()
        };
        let mut projections = Vec::with_capacity(places.len());
        for place in places {
            let record: Record<Projection> = serde_json::from_slice(&self.read(place)?)
                .map_err(|error| ArchiveError::Damaged(error.to_string()))?;
            projections.push(record.projection);
        }
        projections.sort_by_key(|projection| projection.at);
        Ok(projections)
    }

    fn original(
        &self,
        _conversation: &str,
        key: ResultKey,
    ) -> Result<Option<Vec<u8>>, ArchiveError> {
        let place = {
            let inner = self.lock();
            let hash = inner.results.get(&key);
            hash.and_then(|hash| inner.originals.get(hash)).copied()
        };
        place.map(|place| self.read(place)).transpose()
    }
}

impl Inner {
    /// Adds a record to a batch and tells where it will stand.
    fn frame(
        &self,
        batch: &mut Vec<u8>,
        kind: u8,
        hash: &blake3::Hash,
        content: &[u8],
    ) -> io::Result<Place> {
        let len = u32::try_from(content.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let place = Place {
            file: self.number,
            at: self.end + batch.len() as u64,
            len,
        };
        batch.push(kind);
        batch.extend_from_slice(&len.to_le_bytes());
        batch.extend_from_slice(hash.as_bytes());
        batch.extend_from_slice(content);
        Ok(place)
    }

    fn append(&mut self, batch: &[u8]) -> io::Result<()> {
        let written = self
            .file
            .write_all(batch)
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A full disk may take half of a batch; the next one begins where this one did.
            self.file.set_len(self.end)?;
            self.file.seek(SeekFrom::Start(self.end))?;
            return Err(error);
        }
        self.end += batch.len() as u64;
        Ok(())
    }

    fn know(&mut self, projection: &Projection, originals: &[blake3::Hash], place: Place) {
        for (result, hash) in projection.results.iter().zip(originals) {
            self.results.insert(result.key, *hash.as_bytes());
        }
        match self.projections.entry(projection.node) {
            Entry::Occupied(mut known) => known.get_mut().push(place),
            Entry::Vacant(free) => {
                free.insert(vec![place]);
            }
        }
    }

    /// Enters what a file holds; returns where its last whole record ends.
    fn index(&mut self, number: u32, file: File) -> Result<u64, ArchiveError> {
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let mut at = 0;
        let mut head = [0; HEAD];
        let mut content = Vec::new();
        while reader.read_exact(&mut head).is_ok() {
            let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
            content.clear();
            let read = reader
                .by_ref()
                .take(u64::from(len))
                .read_to_end(&mut content)?;
            let hash = blake3::hash(&content);
            if read != len as usize || hash != head[5..] {
                break;
            }
            let place = Place {
                file: number,
                at,
                len,
            };
            if head[0] == ORIGINAL {
                self.originals.insert(*hash.as_bytes(), place);
            } else if let Ok(record) = serde_json::from_slice::<Record<Projection>>(&content) {
                self.know(&record.projection, &record.originals, place);
            }
            at += (HEAD + read) as u64;
        }
        Ok(at)
    }
}

impl fmt::Debug for FileArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileArchive")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("archive-{number:03}.log"))
}

/// The first file that nobody else writes.
fn claim(folder: &Path) -> Result<(File, u32), ArchiveError> {
    for number in 0..FILES {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            // What tools said is nobody else's business.
            options.mode(0o600);
        }
        let file = options.open(path(folder, number))?;
        match file.try_lock() {
            Ok(()) => return Ok((file, number)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(ArchiveError::Io(io::ErrorKind::ResourceBusy.into()))
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
