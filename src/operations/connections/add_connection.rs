//! `add_connection`: adds a provider or a server, pending, with the link that approves it.

use std::borrow::Cow;

use crate::config::ServerType;
use crate::connections::input::Asked;
use crate::connections::{Connect, Draft, LINK_MS, View};
use crate::egress::Provenance;
use crate::error::{Issue, Problem, Result};
use crate::identity::Permission;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Offer, Operation, Scope, Tool};
use crate::{clock, playbooks};

/// The operation.
pub struct AddConnection;

impl Operation for AddConnection {
    const DECLARATION: Declaration = Declaration {
        id: "add_connection",
        name: "add_connection",
        title: "Connect a service",
        description: "Connects a service to the org, so that its tools can be used: a provider by the name that search lists, \
            or a server of your own given by hand. Call search first with the service's words. The connection is added without \
            its credential and waits; the person approves it, and gives the credential, on the page the answer links. Show that \
            link to the person by its name, as a link and never as an address. Never ask for or pass on a credential.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/connections",
        success: 201,
        needs: Needs::Any(&[Permission::OrgWrite]),
        effect: Effect::MAKES,
        tool: Tool::Org,
    };
    type Input = Asked;
    type Output = View;

    async fn run(context: Context, input: Asked) -> Result<View> {
        let app = &context.app;
        let mut draft = app.connections.draft(&app.egress, context.org(), input)?;
        check_playbooks(&context, &draft).await?;
        check_resolved(&context, &draft).await?;
        let document = document(&context, &mut draft).await?;
        let (actor, now) = (context.caller.actor(), context.now_ms());
        let added = app.connections.add(context.org(), actor, now, &app.ids, draft, document).await?;
        let mut view = super::view(&context, &added.record).await;
        view.connect = Some(Connect {
            url: format!("{}/connect/{}", app.public_address(), added.link),
            expires_at: clock::iso(now + LINK_MS),
        });
        Ok(view)
    }

    fn summary(_: &Context, view: &View) -> String {
        let url = view.connect.as_ref().map_or("", |connect| &connect.url);
        format!(
            "The {} connection is added and waits for approval. Show the person this link, as a link and never as its \
             address: [{}]({url}). It works for ten minutes.",
            view.title,
            label(view),
        )
    }

    fn description(_: &Offer<'_>) -> Cow<'static, str> {
        Cow::Borrowed(Self::DECLARATION.description)
    }

    fn admit(offer: &Offer<'_>) -> Result<()> {
        super::may_add(offer)
    }
}

/// What the link is called: a service of the catalogue by its title; what is given by hand has none to be trusted.
pub(super) fn label(view: &View) -> String {
    match &view.provider {
        Some(_) => format!("Approve the {} connection", view.title),
        None => "Approve the connection".to_owned(),
    }
}

/// Each playbook of the entry exists and is within the caller's reach; unknown and forbidden look alike.
async fn check_playbooks(context: &Context, draft: &Draft) -> Result<()> {
    let mut issues = Vec::new();
    for (index, id) in draft.entry.playbooks.iter().flatten().enumerate() {
        let there = playbooks::find(&context.app.ledger, context.org(), id).await?.is_some();
        if !there || !context.caller.reaches(id) {
            issues.push(Issue::new(format!("/entry/playbooks/{index}"), "is not a playbook you may use"));
        }
    }
    if issues.is_empty() { Ok(()) } else { Err(Problem::invalid_all(issues)) }
}

/// Where the server's name leads must be allowed too; a name that leads nowhere yet is found out at the approval.
async fn check_resolved(context: &Context, draft: &Draft) -> Result<()> {
    let Some(url) = draft.entry.url.as_deref().and_then(|url| url::Url::parse(url).ok()) else { return Ok(()) };
    let refused = context.app.egress.check_resolved(&url, Provenance::Person).await;
    match refused {
        Err(crate::egress::Failure::NotAllowed { .. }) => {
            let pointer = if draft.provider.is_some() { "/provider" } else { "/entry/url" };
            Err(Problem::invalid(pointer, crate::egress::Failure::NOT_ALLOWED))
        }
        _ => Ok(()),
    }
}

/// The OpenAPI document of a server given by hand, fetched where it is an address, read and found to give tools.
async fn document(context: &Context, draft: &mut Draft) -> Result<Option<String>> {
    if draft.provider.is_some() || draft.kind != ServerType::Openapi {
        return Ok(None);
    }
    let text = match (draft.document_source.take(), &draft.entry.document) {
        (Some(source), _) => source,
        (None, Some(address)) => context.app.tool_servers.fetch_document(address).await?,
        (None, None) => return Ok(None),
    };
    let checked =
        context.app.tool_servers.check_document(&text, draft.entry.url.as_deref(), draft.entry.document.as_deref());
    let base = checked.await.map_err(|detail| Problem::invalid("/entry/document", detail))?;
    if draft.entry.url.is_none() {
        if context.app.egress.check_address(base.as_str(), Provenance::Person).is_err() {
            return Err(Problem::invalid("/entry/url", crate::egress::Failure::NOT_ALLOWED));
        }
        draft.entry.url = Some(base.into());
    }
    Ok(Some(text))
}
