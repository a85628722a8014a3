//! Mail to people: links that set a password, confirm an email or invite, and what changed about an account. Sent in the background, so that how long a page takes
//! tells nobody whether an email has an account; a mail that could not be sent is told by the log.

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};

use crate::config;
use crate::identity::Person;
use crate::lifecycle::Lifecycle;

/// Where mail goes out, or nowhere. Cheap to clone.
#[derive(Clone)]
pub struct Mail {
    out: Option<(AsyncSmtpTransport<Tokio1Executor>, Mailbox)>,
    lifecycle: Lifecycle,
}

impl Mail {
    /// What the settings say.
    ///
    /// # Errors
    /// The one line that says which setting is not right.
    pub fn of(settings: Option<&config::Mail>, lifecycle: Lifecycle) -> Result<Self, String> {
        let Some(settings) = settings else { return Ok(Self { out: None, lifecycle }) };
        let from = settings.from.parse().map_err(|_| "MAIL_FROM: expected an address of mail".to_owned())?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(settings.url.expose())
            .map_err(|_| "SMTP_URL: expected an address such as smtps://user:password@mail.example".to_owned())?;
        Ok(Self { out: Some((transport.build(), from)), lifecycle })
    }

    /// Whether mail goes out.
    pub fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// Sends the link that sets a password.
    pub fn reset(&self, address: &str, person: &Person, code: &str) {
        let text = format!(
            "Hello {},\n\nset a new password for Playmaker here, within 30 minutes:\n\n{address}/reset#{code}\n\n\
             If you did not ask for it, do nothing: your password stays as it is.\n",
            person.name
        );
        self.send(person, "Set a new password", text);
    }

    /// Tells that a password was set, and whether grants and keys were withdrawn with it, and passkeys taken away.
    pub fn password_was_set(&self, address: &str, person: &Person, withdrawn: bool, passkeys: bool) {
        let more = if withdrawn { " Your applications and personal keys were withdrawn." } else { "" };
        let keys = if passkeys { " Its passkeys were taken away." } else { "" };
        let text = format!(
            "Hello {},\n\na new password was set for your account at {address}, and every browser was signed out.{more}{keys}\n\n\
             If that was not you, tell whoever runs the server.\n",
            person.name
        );
        self.send(person, "Your password was set", text);
    }

    /// Sends the link that confirms an email of a person to that email.
    pub fn confirm_email(&self, address: &str, person: &Person, email: &str, code: &str) {
        let text = format!(
            "Hello {},\n\nconfirm here, within a day, that this is your email for Playmaker:\n\n\
             {address}/settings/profile/email#{code}\n\nIf you did not ask for it, do nothing.\n",
            person.name
        );
        self.send_to(email, "Confirm your email", text);
    }

    /// Tells the owner of an account that somebody asked for their email too.
    pub fn email_is_taken(&self, address: &str, email: &str) {
        let text = format!(
            "Hello,\n\nsomebody wanted to use this email for their account at {address}. There is an account with it \
             already, so nothing was changed.\n\nIf that was you, sign in to that account instead.\n"
        );
        self.send_to(email, "This email has an account", text);
    }

    /// Tells the email of a person that another one is to take its place; `new` is shown in part.
    pub fn email_asked(&self, address: &str, person: &Person, new: &str) {
        let text = format!(
            "Hello {},\n\nsomebody who signed in to your account at {address} asked to change its email to {new}. \
             It changes once that address confirms.\n\nIf that was not you, set a new password now: {address}/forgot\n",
            person.name
        );
        self.send(person, "Your email is to change", text);
    }

    /// Tells the email a person had that another one, shown in part, has taken its place.
    pub fn email_was_changed(&self, address: &str, before: &Person, new: &str) {
        let text = format!(
            "Hello {},\n\nyour account at {address} now has the email {new}.\n\n\
             If that was not you, tell whoever runs the server.\n",
            before.name
        );
        self.send(before, "Your email was changed", text);
    }

    /// Sends the link of an invitation.
    pub fn invitation(&self, email: &str, inviter: &str, org: &str, link: &str) {
        let text = format!(
            "Hello,\n\n{inviter} invites you to the org {org} on Playmaker. Join here, within seven days:\n\n{link}\n\n\
             If you do not know what this is about, do nothing.\n"
        );
        self.send_to(email, "You are invited", text);
    }

    /// Sends plain text to a person in the background.
    fn send(&self, person: &Person, subject: &str, text: String) {
        if let Some(email) = &person.email {
            self.send_to(email, subject, text);
        }
    }

    fn send_to(&self, email: &str, subject: &str, text: String) {
        let Some((transport, from)) = self.out.clone() else { return };
        let (email, subject) = (email.to_owned(), subject.to_owned());
        self.lifecycle.spawn(async move {
            let sent = async {
                let to: Mailbox = email.parse().map_err(|_| "an email that no mail can be sent to".to_owned())?;
                let message = Message::builder().from(from).to(to).subject(subject).header(ContentType::TEXT_PLAIN);
                let message = message.body(text).map_err(|error| error.to_string())?;
                transport.send(message).await.map_err(|error| error.to_string())
            };
            if let Err(error) = sent.await {
                tracing::error!(error, "a mail could not be sent");
            }
        });
    }
}
