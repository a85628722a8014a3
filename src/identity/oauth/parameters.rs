//! The parameters of a query or a form, as RFC 6749 section 3 has them: one without a value is as if it were not there,
//! and none may come twice.

use zeroize::Zeroizing;

/// Parameters in the order they came. They may hold secrets, so there is no `Debug`.
pub struct Parameters(Vec<(String, Zeroizing<String>)>);

/// A parameter that came twice.
#[derive(Debug, PartialEq, Eq)]
pub struct Doubled;

impl Parameters {
    /// Those of `encoded`, as a form or a query writes them.
    pub fn of(encoded: &[u8]) -> Self {
        let pairs = url::form_urlencoded::parse(encoded);
        Self(
            pairs
                .map(|(name, value)| (name.into_owned(), Zeroizing::new(value.into_owned())))
                .filter(|(_, value)| !value.is_empty())
                .collect(),
        )
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every value of `name`.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The value of `name`, where it came once.
    ///
    /// # Errors
    ///
    /// [`Doubled`].
    pub fn once(&self, name: &str) -> Result<Option<&str>, Doubled> {
        let mut values = self.0.iter().filter(|(given, _)| given == name);
        match (values.next(), values.next()) {
            (found, None) => Ok(found.map(|(_, value)| value.as_str())),
            _ => Err(Doubled),
        }
    }

    /// The value of `name`, where it came once and only once.
    pub fn only(&self, name: &str) -> Option<&str> {
        self.once(name).ok().flatten()
    }

    /// Whether any came twice.
    pub fn any_doubled(&self) -> bool {
        self.0.iter().enumerate().any(|(at, (name, _))| self.0[..at].iter().any(|(before, _)| before == name))
    }
}
