//! Pages that are one form: the set-up, signing in, an account, a new password; and what is told in its place when there
//! is nothing to fill in.

use askama::Template;
use http::StatusCode;

use super::error_page::advise;
use super::response::{Response, page};
use super::text::Text;
use crate::error::Problem;

/// One field of a form.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name in what is sent.
    pub name: &'static str,
    /// What to give, in words.
    pub title: &'static str,
    /// How HTML calls its kind: `text`, `email`, `search`, `password`, `date`, `number` or `checkbox`; `select` for one
    /// of several choices in a menu. With choices, `radio` and `checkbox` are a group.
    pub kind: &'static str,
    /// What a browser may fill in, as HTML calls it.
    pub autocomplete: &'static str,
    /// What helps to give it.
    pub hint: Option<Text>,
    /// What stands in it.
    pub value: Text,
    /// Why it was refused.
    pub error: Option<Text>,
    /// Whether it may be left out.
    pub optional: bool,
    /// What to choose from, where there is a choice.
    pub choices: Vec<Choice>,
}

/// One of several things to choose from.
#[derive(Debug, Clone)]
pub struct Choice {
    /// What is sent.
    pub value: Text,
    /// What it means.
    pub words: Text,
    /// What it is called where it is written down.
    pub note: Option<&'static str>,
    /// Whether it is chosen already.
    pub chosen: bool,
}

impl Input {
    /// An empty field that has to be filled in.
    pub fn new(name: &'static str, title: &'static str, kind: &'static str, autocomplete: &'static str) -> Self {
        Self {
            name,
            title,
            kind,
            autocomplete,
            hint: None,
            value: Text::new(""),
            error: None,
            optional: false,
            choices: Vec::new(),
        }
    }

    /// A field to choose in: `select`, `radio` or `checkbox`; each choice is what is sent, its words, and whether it is
    /// chosen.
    pub fn choice(
        name: &'static str,
        title: &'static str,
        kind: &'static str,
        choices: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>, bool)>,
    ) -> Self {
        let choice = |(value, words, chosen): (_, _, bool)| Choice {
            value: Text::new(value),
            words: Text::new(words),
            note: None,
            chosen,
        };
        Self { choices: choices.into_iter().map(choice).collect(), ..Self::new(name, title, kind, "off") }
    }

    /// The same with help.
    #[must_use]
    pub fn hint(mut self, words: &str) -> Self {
        self.hint = Some(Text::new(words));
        self
    }

    /// The same with what was given before.
    #[must_use]
    pub fn given(mut self, value: &str) -> Self {
        self.value = Text::new(value);
        self
    }

    /// The same, which may be left out.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Whether it is one box.
    pub(super) fn is_checkbox(&self) -> bool {
        self.kind == "checkbox" && self.choices.is_empty()
    }

    /// Whether it is several boxes or round buttons.
    pub(super) fn is_group(&self) -> bool {
        matches!(self.kind, "checkbox" | "radio") && !self.choices.is_empty()
    }

    /// Whether it is a list to choose from.
    pub(super) fn is_select(&self) -> bool {
        self.kind == "select"
    }

    /// Whether one of its round buttons has to be chosen.
    pub(super) fn needs_one(&self) -> bool {
        self.kind == "radio" && !self.optional
    }

    /// Its id on a page where it stands in the form of this number: forms of one page may ask for the same.
    pub(super) fn id_in(&self, form: impl std::fmt::Display) -> String {
        format!("{}-{form}", self.name)
    }

    /// Who reads the field aloud reads its hint and its fault too.
    pub(super) fn described_by(&self, id: &str) -> String {
        let hint = self.hint.as_ref().map(|_| format!(" {id}-hint")).unwrap_or_default();
        format!("{id}-error{hint}")
    }
}

/// Where somebody signs in that is not here.
#[derive(Debug, Clone)]
pub struct ProviderLink {
    /// Where its sign-in begins, a path of ours.
    pub address: String,
    /// What it is called.
    pub title: Text,
}

/// A page with one form, or with providers alone where it has no button.
#[derive(Debug, Clone, Default)]
pub struct FormView {
    /// What the page is for.
    pub title: &'static str,
    /// What to know before filling it in.
    pub lead: Option<Text>,
    /// Where it goes.
    pub action: &'static str,
    /// What goes along unseen.
    pub hidden: Vec<(&'static str, String)>,
    /// What is to be filled in.
    pub inputs: Vec<Input>,
    /// The word of its button.
    pub submit: &'static str,
    /// Where else one may go: address and words.
    pub ways: Vec<(&'static str, &'static str)>,
    /// What went wrong as a whole.
    pub fault: Option<Text>,
    /// Whether a passkey does instead, where the browser has them.
    pub passkey: bool,
    /// Whether a passkey may stand in the place of the password of a new account.
    pub first_passkey: bool,
    /// Where else one may sign in.
    pub providers: Vec<ProviderLink>,
    /// The field that a code in the address's fragment goes into.
    pub code_field: Option<&'static str>,
    /// Whether the form goes by itself once the code stands in it.
    pub code_goes: bool,
}

impl FormView {
    /// The same form after a refusal: each fault stands beside its field, anything else above them.
    #[must_use]
    pub fn refused(mut self, problem: &Problem) -> Self {
        let when = problem.retry_after_s().map(waiting).unwrap_or_default();
        let whole = problem.issues().is_empty().then(|| format!("{}{when}", problem.detail()));
        self.fault = whole.map(Text::new);
        for issue in problem.issues() {
            let name = issue.pointer.trim_start_matches('/');
            match self.inputs.iter_mut().find(|input| input.name == name) {
                Some(input) => input.error = Some(Text::new(&issue.detail)),
                // Something that is no field of the page, such as what its script put in.
                None => self.fault = Some(Text::new(format!("This {}.", issue.detail))),
            }
        }
        self
    }

    /// Whether there is a password to give, so that the button alone makes the account.
    fn can_submit(&self) -> bool {
        !self.first_passkey || self.inputs.iter().any(|input| input.kind == "password")
    }

    fn is_refused(&self) -> bool {
        self.fault.is_some() || self.inputs.iter().any(|input| input.error.is_some())
    }

    /// The first field to fill in or to mend; nothing when a fault above the form comes first.
    fn focus(&self) -> &'static str {
        if self.fault.is_some() {
            return "";
        }
        let wrong = self.inputs.iter().find(|input| input.error.is_some());
        let empty = || self.inputs.iter().find(|input| input.value.as_str().is_empty() && !input.is_checkbox());
        wrong.or_else(empty).map_or("", |input| input.name)
    }
}

fn waiting(seconds: u32) -> String {
    match seconds {
        0..=1 => " Try again in a second.".into(),
        2..=90 => format!(" Try again in {seconds} seconds."),
        _ => format!(" Try again in {} minutes.", seconds.div_ceil(60)),
    }
}

#[derive(Template)]
#[template(path = "signin/form.html")]
struct FormPage<'a> {
    view: &'a FormView,
}

/// The page of a form, to be filled in.
pub fn form(view: &FormView) -> Response {
    page(StatusCode::OK, &FormPage { view })
}

/// The page of a form that was refused.
pub fn form_refused(view: FormView, problem: &Problem) -> Response {
    let view = view.refused(problem);
    let status = StatusCode::from_u16(problem.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = page(status, &FormPage { view: &view });
    advise(&mut response, problem);
    response
}

/// A page that tells something and shows where to go on.
#[derive(Template)]
#[template(path = "signin/told.html")]
pub struct Told<'a> {
    /// What happened.
    pub title: &'static str,
    /// How good that is: `good`, `info` or `warn`.
    pub tone: &'static str,
    /// What it means.
    pub words: Text,
    /// Where to go on: address and words.
    pub ways: &'a [(&'a str, &'a str)],
}

/// A page that tells something.
pub fn told(view: &Told<'_>) -> Response {
    told_with(StatusCode::OK, view)
}

/// The same with another status, for what did not come about.
pub fn told_with(status: StatusCode, view: &Told<'_>) -> Response {
    page(status, view)
}
