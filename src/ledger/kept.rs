//! What was read of an org's book, kept in memory until the book's next event.
//!
//! Only one server writes a SQLite file, and every change of what it holds is an event, so that server knows when a reading
//! is out of date. On a database that servers share nothing is kept: others' events are learned of too late.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Book, Event};

/// The most orgs of which readings are kept, and the most readings of one book.
const MOST: usize = 1_024;

/// All readings. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Kept(Arc<Mutex<Shelves>>);

#[derive(Default)]
struct Shelves {
    by_org: HashMap<Arc<str>, [Shelf; 3]>,
    /// How many editions there ever were, of any book: no two are alike, also after a shelf was thrown away.
    editions: u64,
}

/// The readings of one book.
#[derive(Default)]
struct Shelf {
    edition: u64,
    readings: HashMap<String, Reading>,
}

type Reading = (TypeId, Arc<dyn Any + Send + Sync>);

/// Which edition of a book a reading is of; a reading that ends in a later one is not kept.
pub(super) struct Edition(u64);

impl Kept {
    /// The reading of that name, or the edition that one begun now is of.
    pub(super) fn find<T: Send + Sync + 'static>(&self, org: &str, book: Book, name: &str) -> Result<Arc<T>, Edition> {
        let mut shelves = self.lock();
        if let Some(books) = shelves.by_org.get(org) {
            let shelf = &books[book as usize];
            let found = shelf.readings.get(name).filter(|(kind, _)| *kind == TypeId::of::<T>());
            return found.and_then(|(_, reading)| reading.clone().downcast().ok()).ok_or(Edition(shelf.edition));
        }
        shelves.editions += 1;
        let edition = shelves.editions;
        if shelves.by_org.len() >= MOST {
            shelves.by_org.clear();
        }
        let shelf = || Shelf { edition, readings: HashMap::new() };
        shelves.by_org.insert(org.into(), [shelf(), shelf(), shelf()]);
        Err(Edition(edition))
    }

    /// Keeps a reading, unless the book has changed since it began.
    pub(super) fn put<T: Send + Sync + 'static>(
        &self,
        org: &str,
        book: Book,
        name: &str,
        edition: &Edition,
        reading: Arc<T>,
    ) {
        let mut shelves = self.lock();
        let Some(books) = shelves.by_org.get_mut(org) else { return };
        let shelf = &mut books[book as usize];
        if shelf.edition == edition.0 {
            if shelf.readings.len() >= MOST {
                shelf.readings.clear();
            }
            shelf.readings.insert(name.to_owned(), (TypeId::of::<T>(), reading));
        }
    }

    /// What to hold while `events` are being committed.
    pub(super) fn outdated_by(&self, org: &Arc<str>, events: &[Event]) -> Outdated {
        let mut books: Vec<Book> = Vec::new();
        for event in events {
            if !books.contains(&event.book) {
                books.push(event.book);
            }
        }
        Outdated { kept: self.clone(), org: org.clone(), books }
    }

    fn lock(&self) -> MutexGuard<'_, Shelves> {
        // Nothing in here can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Throws the readings of changed books away when it is dropped. It travels with the answer to a write, so that this
/// happens after the commit and before whoever wrote goes on, also when nobody waits for the answer any more.
pub(super) struct Outdated {
    kept: Kept,
    org: Arc<str>,
    books: Vec<Book>,
}

impl Drop for Outdated {
    fn drop(&mut self) {
        let mut shelves = self.kept.lock();
        for book in &self.books {
            shelves.editions += 1;
            let edition = shelves.editions;
            if let Some(books) = shelves.by_org.get_mut(&*self.org) {
                books[*book as usize] = Shelf { edition, readings: HashMap::new() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Actor;
    use super::*;

    fn change(kept: &Kept, book: Book) {
        let mut event = Event::registry("shop", "playbook_created", Actor::system(), json!({}));
        event.book = book;
        drop(kept.outdated_by(&"north".into(), &[event]));
    }

    fn find(kept: &Kept, name: &str) -> Option<i32> {
        kept.find::<i32>("north", Book::Registry, name).ok().map(|reading| *reading)
    }

    fn read(kept: &Kept, name: &str, value: i32) {
        let Err(edition) = kept.find::<i32>("north", Book::Registry, name) else { return };
        kept.put("north", Book::Registry, name, &edition, Arc::new(value));
    }

    #[test]
    fn a_reading_is_kept_until_its_book_changes() {
        let kept = Kept::default();
        read(&kept, "all", 1);
        assert_eq!((find(&kept, "all"), find(&kept, "other")), (Some(1), None));
        change(&kept, Book::History);
        assert_eq!(find(&kept, "all"), Some(1));
        change(&kept, Book::Registry);
        assert_eq!(find(&kept, "all"), None);
    }

    #[test]
    fn a_reading_that_began_before_a_change_is_not_kept() {
        let kept = Kept::default();
        let Err(edition) = kept.find::<i32>("north", Book::Registry, "all") else { panic!("nothing was read yet") };
        change(&kept, Book::Registry);
        kept.put("north", Book::Registry, "all", &edition, Arc::new(1));
        assert_eq!(find(&kept, "all"), None);
    }

    #[test]
    fn an_edition_of_a_shelf_thrown_away_is_never_met_again() {
        let kept = Kept::default();
        let Err(edition) = kept.find::<i32>("north", Book::Registry, "all") else { panic!("nothing was read yet") };
        change(&kept, Book::Registry);
        for org in 0..MOST {
            drop(kept.find::<i32>(&format!("org-{org}"), Book::Registry, "all"));
        }
        assert_eq!(find(&kept, "all"), None);
        kept.put("north", Book::Registry, "all", &edition, Arc::new(1));
        assert_eq!(find(&kept, "all"), None);
    }

    #[test]
    fn orgs_and_kinds_of_readings_are_apart() {
        let kept = Kept::default();
        read(&kept, "all", 1);
        assert!(kept.find::<i32>("south", Book::Registry, "all").is_err());
        assert!(kept.find::<String>("north", Book::Registry, "all").is_err());
    }
}
