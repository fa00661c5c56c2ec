//! Keystone's trait: what the token says.

use async_trait::async_trait;
use fabric_openstack_types::{ApiError, ErrorClass, Service, ids::ProjectId};

use crate::{
    api::{Identity, Result},
    client::Client,
};

#[async_trait]
impl Identity for Client {
    async fn project_id(&self) -> Result<ProjectId> {
        let http = self.shared.session.client().inner();
        let token = self.shared.auth.token(http).await?;
        token.project.clone().ok_or_else(|| {
            let message = "the token has no project: give the credentials a project scope";
            let class = ErrorClass::Forbidden;
            ApiError::local(Service::Identity, "POST", "/auth/tokens", class, message)
        })
    }

    async fn has(&self, service: Service) -> Result<bool> {
        let http = self.shared.session.client().inner();
        let token = self.shared.auth.token(http).await?;
        match self.shared.auth.endpoint(&token, service) {
            Ok(_) => Ok(true),
            Err(error) if error.class == ErrorClass::NoEndpoint => Ok(false),
            Err(error) => Err(error),
        }
    }
}
