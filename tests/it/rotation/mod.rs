//! Whatever is rotated is rotated while requests go on, and none of them fails.
//!
//! Each test keeps a [`Load`] going: several callers, one request after the other, every one of which has to succeed.
//! Between two steps of a rotation a test waits for a [`Load::round`], so that each caller has been there in between.

mod api_key;
mod issuer;
mod signing_key;
mod store;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinHandle;

use crate::support::app::TestApp;
use crate::support::eventually;
use crate::support::people::{Answer, Caller};

/// Callers at once.
const CALLERS: usize = 4;

/// A request of a caller, told the number of the round it is for: why it failed, where it did.
pub type Request = Box<dyn FnMut(u64) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send>;

/// Callers that ask and ask until they are told to end.
pub struct Load {
    round: Arc<AtomicU64>,
    /// The round each caller has last done a whole request for.
    done: Vec<Arc<AtomicU64>>,
    callers: Vec<JoinHandle<(usize, Vec<String>)>>,
}

/// The round in which callers end.
const END: u64 = u64::MAX;

impl Load {
    /// Begins with the requests that `caller` makes for each of them.
    pub fn begin(mut caller: impl FnMut(usize) -> Request) -> Self {
        let round = Arc::new(AtomicU64::new(1));
        let done: Vec<Arc<AtomicU64>> = (0..CALLERS).map(|_| Arc::default()).collect();
        let callers = done.iter().enumerate().map(|(number, done)| {
            let (done, mut request) = (done.clone(), caller(number));
            let round = Arc::clone(&round);
            tokio::spawn(async move {
                let (mut requests, mut failures) = (0, Vec::new());
                loop {
                    let now = round.load(Ordering::SeqCst);
                    if now == END {
                        return (requests, failures);
                    }
                    requests += 1;
                    if let Err(failure) = request(now).await {
                        failures.push(format!("caller {number}, request {requests}, round {now}: {failure}"));
                    }
                    done.store(now, Ordering::SeqCst);
                }
            })
        });
        let callers = callers.collect();
        Self { round, callers, done }
    }

    /// Waits until each caller has asked and been answered since now.
    pub async fn round(&self) {
        let wanted = self.round.fetch_add(1, Ordering::SeqCst) + 1;
        eventually("that each caller goes on", async || {
            self.done.iter().all(|done| done.load(Ordering::SeqCst) >= wanted).then_some(())
        })
        .await;
    }

    /// Ends, and makes sure that nothing failed; how many requests there were.
    pub async fn end(self) -> usize {
        self.round.store(END, Ordering::SeqCst);
        let mut all = 0;
        for caller in self.callers {
            let (requests, failures) = caller.await.unwrap();
            assert!(
                failures.is_empty(),
                "{} of {requests} failed: {:#?}",
                failures.len(),
                &failures[..failures.len().min(5)]
            );
            all += requests;
        }
        all
    }
}

/// Those who call each of these servers, without a credential.
pub fn callers_of(servers: &[&TestApp]) -> Arc<Vec<Caller>> {
    Arc::new(servers.iter().map(|server| server.anyone()).collect())
}

/// The holder of a bearer credential.
pub fn holder(anyone: &Caller, credential: &str) -> Caller {
    anyone.clone().with("authorization", &format!("Bearer {credential}"))
}

/// Whether an answer is a success.
pub fn succeeded(answer: &Answer) -> Result<(), String> {
    let told = || format!("{} {} {}", answer.status, answer.header("www-authenticate"), answer.text);
    if answer.status == 200 { Ok(()) } else { Err(told()) }
}
