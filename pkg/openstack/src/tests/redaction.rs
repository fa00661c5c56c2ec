//! No secret is printed, whatever is printed.

use std::{
    io,
    sync::{Arc, Mutex},
};

use fabric_openstack_types::credentials::{AuthMethod, DomainRef, UserRef};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::{
    PASSWORD, credentials,
    server::{Act, Server},
};
use crate::{Client, Options, Query, RetryPolicy, Sessions, api::Network};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_secret_is_in_logs_errors_or_debug() {
    let captured = Captured::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(captured.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let mut printed = Vec::new();

    // A Keystone that quotes the request, and a Neutron that quotes the token.
    let quoting = Server::bare(|seen| {
        let message = format!("Failed validating: On instance: {}", seen.body);
        Act::Json(400, json!({"error": {"code": 400, "title": "Bad Request", "message": message}}))
    })
    .await;
    let working = Server::start(|_| Act::Json(200, json!({"networks": []}))).await;
    let user = UserRef::Id("u".to_owned());
    let domain = DomainRef::Id("d".to_owned());
    printed.push(format!("{domain:?}"));
    for server in [&quoting, &working] {
        for method in [
            credentials(&server.url).method,
            AuthMethod::AppCredentialId { id: "i".to_owned(), secret: PASSWORD.into() },
            AuthMethod::AppCredentialName { name: "n".to_owned(), user: user.clone(), secret: PASSWORD.into() },
        ] {
            let mut credentials = credentials(&server.url);
            credentials.method = method;
            let options =
                Options { retry: RetryPolicy { attempts: 1, ..RetryPolicy::default() }, ..Options::default() };
            let sessions = Sessions::new(options.clone());
            sessions.client(&credentials).await.unwrap();
            let client = Client::connect(credentials.clone(), options).await.unwrap();
            let result = client.networks(&Query::all()).await;
            if let Err(error) = &result {
                printed.push(format!("{error} {error:?} {}", json!(error)));
            }
            printed.push(format!("{client:?} {client:#?} {:?} {sessions:?}", client.session()));
            printed.push(format!("{credentials:?}"));
        }
    }
    // The secret did go out, or this test would hold nothing.
    assert!(working.log().iter().any(|seen| seen.body.to_string().contains(PASSWORD)));
    assert!(working.log().iter().any(|seen| seen.token().starts_with("token-")));
    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("openstack"), "{log}");
    printed.push(log);
    for text in printed {
        for secret in [PASSWORD, "token-1"] {
            assert!(!text.contains(secret), "{secret} in: {text}");
        }
    }
}
