//! `invite_member`: a way into the org for one address.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{View, link};
use crate::error::{Problem, Result};
use crate::identity::invitations::sending::Draft;
use crate::identity::{Permission, Playbooks, Role, people};
use crate::operations::members::Reach;
use crate::operations::words::quoted;
use crate::operations::{Context, Declaration, Effect, Method, Needs, Operation, Scope, Tool};

/// The operation.
pub struct InviteMember;

/// Its fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Whom to invite.
    #[schemars(length(min = 3, max = 254))]
    email: String,
    /// As what.
    role: Role,
    /// Where the role counts: "*", or a list of ids of playbooks, which narrows viewers and members; left out, everywhere.
    playbooks: Option<Reach>,
}

/// Its output.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The invitation.
    #[serde(flatten)]
    pub invitation: View,
    /// The address to give the person, told this once; left out where a mail brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl Operation for InviteMember {
    const DECLARATION: Declaration = Declaration {
        id: "invite_member",
        name: "invite_member",
        title: "Invite a member",
        description: "Makes an invitation to the org for one address, good for seven days and once. Inviting an address again \
            ends the invitation it had. A mail brings its link; where the server sends none, the answer holds it, this once.",
        scope: Scope::Org,
        method: Method::Post,
        path: "/invitations",
        success: 201,
        needs: Needs::Any(&[Permission::OrgAdmin]),
        effect: Effect::MAKES,
        tool: Tool::No,
    };
    type Input = Input;
    type Output = Output;

    async fn run(context: Context, input: Input) -> Result<Output> {
        let Some(email) = people::email(&input.email) else {
            return Err(Problem::invalid("/email", "must be an email address, such as ada@example.com"));
        };
        let playbooks = input.playbooks.map_or(Playbooks::All, |reach| reach.0);
        if matches!(playbooks, Playbooks::Only(_)) && !input.role.is_narrowed() {
            let words = format!("must be \"*\": the role {} reaches every playbook", input.role.word());
            return Err(Problem::invalid("/playbooks", words));
        }
        let app = &context.app;
        let mailed = app.mail.is_on();
        let draft = Draft { email, role: input.role, playbooks };
        let sent = app.identity.invite(&context.caller, draft, mailed).await?;
        let address = link(app, sent.code.expose());
        if mailed {
            let org = app.identity.org(context.org()).await?.map_or_else(|| context.org().to_owned(), |org| org.name);
            app.mail.invitation(&sent.invitation.email, context.caller.name(), &org, &address);
        }
        Ok(Output { invitation: View::from(&sent.invitation), link: (!mailed).then_some(address) })
    }

    fn summary(_: &Context, output: &Output) -> String {
        format!("{} is invited as {}.", quoted(&output.invitation.email), output.invitation.role.word())
    }
}
