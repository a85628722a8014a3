//! The main job from end to end: an agent connects, a service is added, a person approves it in a browser, the agent works
//! with it, and it is taken away again.
//!
//! [`clients`] tells it once for each official client. The others look closer at one side of it: the pages in [`pages`],
//! where a credential goes in [`places`], and servers of others in [`mocked`] and [`everything`]. [`harbour`] is the
//! service most of them connect; [`agent`] and [`page`] are the two who act.

mod agent;
mod clients;
mod everything;
mod harbour;
mod mocked;
mod page;
mod pages;
mod places;
