use fabric_openstack::{
    Client, Options, Query, Stats,
    api::{Identity, Network},
};
use fabric_openstack_types::{
    ErrorClass, Service,
    credentials::{AuthMethod, Credentials, DomainRef, UserRef},
};
use reqwest::Method;

use crate::{Stage, raw};

async fn client(credentials: Credentials) -> Client {
    Client::connect(credentials, Options::default()).await.unwrap()
}

/// Password and both forms of an application credential lead to the same project, with one token each.
pub async fn every_form_of_credentials_logs_in(stage: &Stage) {
    let facts = &stage.facts;
    let user = UserRef::Name { name: facts.user.clone(), domain: DomainRef::Name(facts.domain.clone()) };
    let secret = || facts.application_credential_secret.as_str().into();
    for method in [
        stage.credentials.method.clone(),
        AuthMethod::AppCredentialId { id: facts.application_credential_id.clone(), secret: secret() },
        AuthMethod::AppCredentialName { name: facts.application_credential_name.clone(), user, secret: secret() },
    ] {
        let credentials = Credentials { method, ..stage.credentials.clone() };
        let client = client(credentials).await;
        assert_eq!(client.stats(), Stats::default());
        assert_eq!(client.project_id().await.unwrap(), facts.project_id);
        client.networks(&Query::external()).await.unwrap();
        assert_eq!(client.stats(), Stats { calls: 1, tokens: 1 });
    }
}

/// Credentials that are not accepted are unauthenticated, whatever status Keystone gives them.
pub async fn credentials_that_are_wrong_are_unauthenticated(stage: &Stage) {
    let facts = &stage.facts;
    let app = |id: &str, secret: &str| AuthMethod::AppCredentialId { id: id.to_owned(), secret: secret.into() };
    let mut wrong_password = stage.credentials.method.clone();
    if let AuthMethod::Password { password, .. } = &mut wrong_password {
        *password = "not-the-password".into();
    }
    for (method, status) in [
        (wrong_password, 401),
        (app(&facts.application_credential_id, "not-the-secret"), 401),
        (app(&"f".repeat(32), "not-the-secret"), 404),
    ] {
        let credentials = Credentials { method, ..stage.credentials.clone() };
        let client = client(credentials).await;
        let error = client.networks(&Query::all()).await.unwrap_err();
        assert_eq!((error.class, error.status), (ErrorClass::Unauthenticated, Some(status)));
        assert_eq!(error.service, Service::Identity);
        assert!(!error.to_string().contains("not-the"), "{error}");
        assert_eq!(client.stats(), Stats { calls: 0, tokens: 1 });
    }
}

/// A region that the catalog does not have is named, with those that it has.
pub async fn an_unknown_region_has_no_endpoint(stage: &Stage) {
    let credentials = Credentials { region: Some("Atlantis".to_owned()), ..stage.credentials.clone() };
    let client = client(credentials).await;
    let error = client.networks(&Query::all()).await.unwrap_err();
    assert_eq!((error.class, error.status), (ErrorClass::NoEndpoint, None));
    assert!(error.message.contains("Atlantis"), "{error}");
    let region = stage.credentials.region.as_deref().unwrap();
    assert!(error.message.contains(region), "{error}");
    assert!(!client.has(Service::Network).await.unwrap());
    for service in
        [Service::Identity, Service::Network, Service::Compute, Service::SharedFileSystem, Service::LoadBalancer]
    {
        assert!(stage.member.has(service).await.unwrap(), "{service}");
    }
}

/// A token that was revoked before its end costs one refused call and one login.
pub async fn a_revoked_token_is_renewed_once(stage: &Stage) {
    let client = &stage.member;
    client.project_id().await.unwrap();
    let session = client.session();
    let http = session.client().inner();
    let blank = http.get("http://127.0.0.1/");
    let request = session.auth_type().authenticate(http, blank).await.unwrap();
    let token = request.build().unwrap().headers()["x-auth-token"].clone();
    let filters = session.endpoint_filters();
    let keystone = session.client().get_endpoint("identity", filters).await.unwrap();
    let url = format!("{}/auth/tokens", keystone.as_str().trim_end_matches('/'));
    let revoke = session.client().request(Method::DELETE, url.parse().unwrap()).header("x-subject-token", token);
    let answer = revoke.send_unchecked().await.unwrap();
    assert_eq!(answer.status().as_u16(), 204);
    client.networks(&Query::external()).await.unwrap();
    assert_eq!(client.stats(), Stats { calls: 2, tokens: 2 });
    client.networks(&Query::external()).await.unwrap();
    assert_eq!(client.stats(), Stats { calls: 3, tokens: 2 });
}

/// The session below works for calls of others.
pub async fn the_session_serves_other_calls(stage: &Stage) {
    let answer = raw::call(&stage.member, "compute", Method::GET, "/flavors", None).await;
    assert!(!answer["flavors"].as_array().unwrap().is_empty());
}
