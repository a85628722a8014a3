//! Mail to people: a link to set a password, and that one was set. Sent in the background, so that how long a page takes
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

    /// Tells that a password was set.
    pub fn password_was_set(&self, address: &str, person: &Person) {
        let text = format!(
            "Hello {},\n\na new password was set for your account at {address}, and every browser was signed out.\n\n\
             If that was not you, tell whoever runs the server.\n",
            person.name
        );
        self.send(person, "Your password was set", text);
    }

    /// Sends plain text to a person in the background.
    pub fn send(&self, person: &Person, subject: &str, text: String) {
        let (Some((transport, from)), Some(email)) = (self.out.clone(), person.email.clone()) else { return };
        let subject = subject.to_owned();
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
