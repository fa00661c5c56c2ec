//! Whom we trust: the usual roots, a CA from memory, or anybody if the user insists.

use std::sync::Arc;

use fabric_openstack_types::ErrorClass;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{TlsAcceptor, rustls};

use super::{
    credentials,
    server::{Act, Server, login},
};
use crate::{Client, Error, Options, api::Identity};

/// A Keystone behind TLS: its port, and the PEM of the CA that signed its certificate for `name`.
async fn keystone(name: &str) -> (u16, String) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(authority, key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let leaf = leaf.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Server::bare(|_| Act::Json(500, json!({}))).await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, server) = (acceptor.clone(), server.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    server.serve(stream, &|_| login("http://127.0.0.1:1", 1)).await;
                }
            });
        }
    });
    (port, pem)
}

#[tokio::test]
async fn trusts_the_ca_from_memory_and_nobody_else_unless_told() {
    let (port, pem) = keystone("localhost").await;
    let (other_port, other_pem) = keystone("somewhere.else").await;
    let url = |port: u16| format!("https://localhost:{port}");
    for (port, ca, insecure, trusted) in [
        (port, None, false, false),
        (port, Some(&pem), false, true),
        (port, Some(&other_pem), false, false),
        (port, None, true, true),
        // The right issuer, the wrong name.
        (other_port, Some(&other_pem), false, false),
        (other_port, None, true, true),
    ] {
        let mut credentials = credentials(&url(port));
        credentials.ca_cert = ca.cloned();
        credentials.insecure = insecure;
        let client = Client::connect(credentials, Options::default()).await.unwrap();
        match client.project_id().await {
            Ok(_) => assert!(trusted),
            Err(error) => {
                assert!(!trusted, "{error}");
                assert_eq!(error.class, ErrorClass::Tls, "{error}");
                assert!(error.message.starts_with("TLS with localhost:"), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn plain_http_behind_an_https_url_is_a_tls_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(answer).await.unwrap();
            // Until the client has read it and goes.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    });
    let client = Client::connect(credentials(&url), Options::default()).await.unwrap();
    assert_eq!(client.project_id().await.unwrap_err().class, ErrorClass::Tls);
}

#[tokio::test]
async fn what_is_no_certificate_is_refused_by_field() {
    for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"] {
        let mut credentials = credentials("https://k");
        credentials.ca_cert = Some(pem.to_owned());
        let error = Client::connect(credentials, Options::default()).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid { field, .. } if field == "CA certificate"), "{error}");
    }
    let error = Client::connect(credentials("keystone:5000"), Options::default()).await.unwrap_err();
    assert!(matches!(&error, Error::Invalid { field, .. } if field == "auth_url"), "{error}");
}
