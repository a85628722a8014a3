//! Servers of others that a test talks to: started for one test, on a free port of loopback, and gone with it.
//!
//! Start reading at [`Service`]. What they run on is installed by `infra/test`; a test that finds it missing says so.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// How long a server may take until it listens. Generous: a busy machine starts several at once.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How often to ask whether it does.
const POLL: Duration = Duration::from_millis(20);

/// A running server; dropping it ends the process.
pub struct Service {
    process: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Service {
    /// Starts what `command` makes of a free port and waits until that port takes connections.
    pub async fn start(name: &str, command: impl FnOnce(u16) -> Command) -> Self {
        Self::start_at(name, free_port(), command).await
    }

    /// The same on a port that the test has chosen.
    pub async fn start_at(name: &str, port: u16, command: impl FnOnce(u16) -> Command) -> Self {
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{port}.log"));
        let output = File::create(&log).expect("the folder for temporary files can be written");
        let process = command(port)
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a file can be shared"))
            .stderr(output)
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} cannot be started ({error}); run infra/test once to install it"));
        let mut service = Self { process, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), log };
        if timeout(START_LIMIT, service.listening()).await.ok() != Some(true) {
            panic!("{name} did not start: {}", service.output());
        }
        service
    }

    /// The address of a path at this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Its origin, by the name of this machine.
    pub fn origin(&self) -> String {
        format!("http://localhost:{}", self.address.port())
    }

    /// What the server printed so far.
    pub fn output(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Whether it came to listen before it ended.
    async fn listening(&mut self) -> bool {
        loop {
            if TcpStream::connect(self.address).await.is_ok() {
                return true;
            }
            if self.process.try_wait().ok().flatten().is_some() {
                return false;
            }
            sleep(POLL).await;
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // A failing test leaves the output behind, to be read.
        if !std::thread::panicking() {
            let _ = std::fs::remove_file(&self.log);
        }
    }
}

/// A port nobody listens on, for a server that cannot be told to pick one itself.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("a bound listener has an address").port()
}

/// A setting that `infra/test` hands to the tests.
pub fn setting(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test is configured elsewhere; these are the test's own"
    )]
    std::env::var(name).ok()
}

/// A path from the top of the project.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The Node.js that `infra/npm` pins.
pub fn node() -> PathBuf {
    project("infra/npm/node_modules/.bin/node")
}

/// The reference MCP server with every kind of tool, over Streamable HTTP at `/mcp`.
pub async fn everything() -> Service {
    Service::start("everything", |port| {
        let mut command = Command::new(node());
        command.arg(everything_program()).arg("streamableHttp").env("PORT", port.to_string());
        command
    })
    .await
}

/// `oidc-provider` as an issuer: `resources` answers resource indicators, `fixed` puts one audience into every token.
pub async fn issuer(audiences: &str) -> Service {
    Service::start("issuer", |port| {
        let mut command = Command::new(node());
        command.arg(project("tests/clients/issuer.ts")).arg(audiences).env("PORT", port.to_string());
        command
    })
    .await
}

/// nginx before a server, as an operator sets it up: it names itself to the server by another host than the client asked
/// for, and adds the client's address to `X-Forwarded-For`. It listens on `port`, on every address of loopback.
pub async fn proxy(port: u16, server: SocketAddr) -> Service {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = folder.path().display();
    let settings = format!(
        "daemon off; pid {place}/nginx.pid; error_log stderr; worker_processes 1; events {{ worker_connections 256; }}\n\
         http {{ access_log off; client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;\n\
           fastcgi_temp_path {place}/1; uwsgi_temp_path {place}/2; scgi_temp_path {place}/3;\n\
           server {{ listen 0.0.0.0:{port}; location / {{ proxy_pass http://{server}; proxy_http_version 1.1;\n\
             proxy_set_header Connection ''; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;\n\
             proxy_set_header X-Forwarded-Host $host; proxy_set_header X-Forwarded-Proto $scheme; }} }} }}\n"
    );
    let file = folder.keep().join("nginx.conf");
    std::fs::write(&file, settings).expect("the folder for temporary files can be written");
    Service::start_at("nginx", port, |_| {
        let mut command = Command::new("nginx");
        // Debian keeps it where only the superuser looks.
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").arg("-c").arg(file);
        command
    })
    .await
}

/// The same server over stdio: the program and its arguments.
pub fn everything_over_stdio() -> (String, Vec<String>) {
    let text = |path: PathBuf| path.to_str().expect("the project's path is text").to_owned();
    (text(node()), vec![text(everything_program()), "stdio".to_owned()])
}

fn everything_program() -> PathBuf {
    project("infra/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
}

/// Prism answering for an OpenAPI document: it checks each request against it and replies with the document's examples.
pub async fn mock_api(document: &Path) -> Service {
    Service::start("prism", |port| {
        let mut command = Command::new(node());
        command.arg(project("infra/npm/node_modules/.bin/prism")).args(["mock", "--host", "127.0.0.1", "--port"]);
        command.arg(port.to_string()).arg(document);
        command
    })
    .await
}

/// A small OpenAPI 3.1 document of our own, for [`mock_api`]: a lending library behind a key in a header.
pub fn lending_api() -> PathBuf {
    project("tests/it/fixtures/lending.yaml")
}

#[tokio::test]
async fn the_mocked_library_asks_for_its_key_and_then_lends() {
    let library = mock_api(&lending_api()).await;
    let http = reqwest_client();
    let refused = http.get(library.url("/books")).send().await.unwrap();
    assert_eq!(refused.status(), 401);
    let lent = http.get(library.url("/books/b-1")).header("x-library-key", "any").send().await.unwrap();
    assert_eq!(lent.status(), 200, "{}", library.output());
    assert!(lent.text().await.unwrap().contains("The Salt Road"));
}

#[tokio::test]
async fn the_reference_server_also_speaks_over_stdio() {
    let (program, arguments) = everything_over_stdio();
    let mut process = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    // With its input closed it has nobody to talk to and ends by itself.
    timeout(START_LIMIT, process.wait()).await.unwrap().unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test's own request, not the program's")]
fn reqwest_client() -> reqwest::Client {
    reqwest::Client::new()
}
