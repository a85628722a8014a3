//! A server of mail inside the test: it takes whatever is sent and hands it over.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Where mail arrives.
pub struct Post {
    address: String,
    came: UnboundedReceiver<String>,
}

impl Post {
    /// Opens on a free port.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("smtp://{}", listener.local_addr().unwrap());
        let (put, came) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take(stream, put.clone()));
            }
        });
        Self { address, came }
    }

    /// The settings of a server that sends its mail here, before `more`.
    pub fn settings<'a>(&'a self, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        [&[("SMTP_URL", self.address.as_str()), ("MAIL_FROM", "Playmaker <studio@acme.test>")], more].concat()
    }

    /// The next mail, head and all, as its reader sees it.
    pub async fn next(&mut self) -> String {
        let came = tokio::time::timeout(std::time::Duration::from_secs(10), self.came.recv());
        came.await.expect("a mail arrives").unwrap()
    }

    /// The next `count` mails, whatever their order, by whom they are to.
    pub async fn take(&mut self, count: usize) -> Vec<(String, String)> {
        let mut mails = Vec::new();
        for _ in 0..count {
            let mail = self.next().await;
            let to = mail.lines().find_map(|line| line.strip_prefix("To: ")).unwrap().to_owned();
            mails.push((to, mail));
        }
        mails.sort();
        mails
    }

    /// Whether nothing more has arrived.
    pub fn is_empty(&mut self) -> bool {
        self.came.try_recv().is_err()
    }
}

/// The code behind the `#` of the link in a mail.
pub fn code(mail: &str) -> String {
    mail.split_once('#').unwrap_or_else(|| panic!("{mail}")).1.chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// One connection: the sender keeps it for its next mails.
async fn take(mut stream: TcpStream, put: UnboundedSender<String>) {
    let (reader, mut writer) = stream.split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"220 here\r\n").await.unwrap();
    let (mut text, mut inside) = (String::new(), false);
    while let Ok(Some(line)) = lines.next_line().await {
        if inside && line != "." {
            text.push_str(&line);
            text.push('\n');
            continue;
        }
        if inside {
            let mail = std::mem::take(&mut text).replace("=\n", "").replace("=3D", "=");
            let _ = put.send(mail.replace("=E2=80=A2", "•"));
        }
        inside = line == "DATA";
        if writer.write_all(if inside { b"354 go on\r\n" } else { b"250 good\r\n" }).await.is_err() {
            return;
        }
    }
}
