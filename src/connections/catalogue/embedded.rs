//! The files that come with the program. A test holds these lists against the folders.

/// Provider files, by name.
pub(super) const PROVIDERS: &[(&str, &str)] = &[
    ("airtable.yaml", include_str!("../providers/airtable.yaml")),
    ("asana.yaml", include_str!("../providers/asana.yaml")),
    ("attio.yaml", include_str!("../providers/attio.yaml")),
    ("box.yaml", include_str!("../providers/box.yaml")),
    ("calendly.yaml", include_str!("../providers/calendly.yaml")),
    ("canva.yaml", include_str!("../providers/canva.yaml")),
    ("clickup.yaml", include_str!("../providers/clickup.yaml")),
    ("cloudflare.yaml", include_str!("../providers/cloudflare.yaml")),
    ("confluence.yaml", include_str!("../providers/confluence.yaml")),
    ("datadog.yaml", include_str!("../providers/datadog.yaml")),
    ("dropbox.yaml", include_str!("../providers/dropbox.yaml")),
    ("figma.yaml", include_str!("../providers/figma.yaml")),
    ("fireflies.yaml", include_str!("../providers/fireflies.yaml")),
    ("github-mcp.yaml", include_str!("../providers/github-mcp.yaml")),
    ("github.yaml", include_str!("../providers/github.yaml")),
    ("gitlab.yaml", include_str!("../providers/gitlab.yaml")),
    ("gmail.yaml", include_str!("../providers/gmail.yaml")),
    ("google-drive.yaml", include_str!("../providers/google-drive.yaml")),
    ("google-sheets.yaml", include_str!("../providers/google-sheets.yaml")),
    ("googlecalendar.yaml", include_str!("../providers/googlecalendar.yaml")),
    ("hubspot.yaml", include_str!("../providers/hubspot.yaml")),
    ("huggingface.yaml", include_str!("../providers/huggingface.yaml")),
    ("intercom.yaml", include_str!("../providers/intercom.yaml")),
    ("jira.yaml", include_str!("../providers/jira.yaml")),
    ("linear-mcp.yaml", include_str!("../providers/linear-mcp.yaml")),
    ("linear.yaml", include_str!("../providers/linear.yaml")),
    ("monday.yaml", include_str!("../providers/monday.yaml")),
    ("neon.yaml", include_str!("../providers/neon.yaml")),
    ("netlify.yaml", include_str!("../providers/netlify.yaml")),
    ("notion-mcp.yaml", include_str!("../providers/notion-mcp.yaml")),
    ("notion.yaml", include_str!("../providers/notion.yaml")),
    ("pagerduty.yaml", include_str!("../providers/pagerduty.yaml")),
    ("paypal.yaml", include_str!("../providers/paypal.yaml")),
    ("posthog.yaml", include_str!("../providers/posthog.yaml")),
    ("sentry.yaml", include_str!("../providers/sentry.yaml")),
    ("slack.yaml", include_str!("../providers/slack.yaml")),
    ("square.yaml", include_str!("../providers/square.yaml")),
    ("stripe.yaml", include_str!("../providers/stripe.yaml")),
    ("supabase.yaml", include_str!("../providers/supabase.yaml")),
    ("todoist.yaml", include_str!("../providers/todoist.yaml")),
    ("vercel.yaml", include_str!("../providers/vercel.yaml")),
    ("webflow.yaml", include_str!("../providers/webflow.yaml")),
    ("wix.yaml", include_str!("../providers/wix.yaml")),
];

/// Toolkits, by the name a provider gives them.
pub(super) const TOOLKITS: &[(&str, &str)] = &[
    ("github", include_str!("../toolkits/github.yaml")),
    ("gmail", include_str!("../toolkits/gmail.yaml")),
    ("google-drive", include_str!("../toolkits/google-drive.yaml")),
    ("google-sheets", include_str!("../toolkits/google-sheets.yaml")),
    ("googlecalendar", include_str!("../toolkits/googlecalendar.yaml")),
    ("linear", include_str!("../toolkits/linear.yaml")),
    ("notion", include_str!("../toolkits/notion.yaml")),
];

/// OpenAPI documents, by file name.
pub(super) const DOCUMENTS: &[(&str, &str)] = &[("calendly.yaml", include_str!("../documents/calendly.yaml"))];
