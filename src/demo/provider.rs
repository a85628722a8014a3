//! The provider file that offers the parts desk, and its OpenAPI document beside it.

use std::io;
use std::path::Path;

const DOCUMENT: &str = include_str!("parts-desk.json");
const PROVIDER: &str = include_str!("parts-desk.yaml");

/// Where the provider file leaves room for the desk's address.
const ORIGIN: &str = "http://desk.invalid";

/// Writes both files into `folder`, with the desk at `origin`.
pub(super) fn write(folder: &Path, origin: &str) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    std::fs::write(folder.join("parts-desk.json"), DOCUMENT)?;
    std::fs::write(folder.join("parts-desk.yaml"), PROVIDER.replace(ORIGIN, origin))
}

#[cfg(test)]
mod tests {
    use crate::connections::catalogue::{Catalogue, Kind, read_folder};

    #[test]
    fn the_catalogue_takes_the_desk_at_its_address() {
        let folder = tempfile::tempdir().unwrap();
        let providers = folder.path().join("providers");
        super::write(&providers, "http://127.0.0.1:40123").unwrap();
        let catalogue = Catalogue::with(&read_folder(&providers).unwrap()).unwrap();
        let desk = catalogue.get("parts-desk").unwrap();
        assert_eq!((desk.host(), desk.ways[0].kind), ("127.0.0.1:40123", Kind::Secret));
        assert!(!super::PROVIDER.replace(super::ORIGIN, "").contains("://"));
        assert_eq!(catalogue.find("order spare parts")[0].name, "parts-desk");
    }
}
