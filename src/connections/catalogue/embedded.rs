//! The files that come with the program. A test holds these lists against the folders.

/// Provider files, by name.
pub(super) const PROVIDERS: &[(&str, &str)] = &[
    ("calendly.yaml", include_str!("../providers/calendly.yaml")),
    ("huggingface.yaml", include_str!("../providers/huggingface.yaml")),
    ("notion.yaml", include_str!("../providers/notion.yaml")),
];

/// Toolkits, by the name a provider gives them.
pub(super) const TOOLKITS: &[(&str, &str)] = &[("notion", include_str!("../toolkits/notion.yaml"))];

/// OpenAPI documents, by file name.
pub(super) const DOCUMENTS: &[(&str, &str)] = &[("calendly.yaml", include_str!("../documents/calendly.yaml"))];
