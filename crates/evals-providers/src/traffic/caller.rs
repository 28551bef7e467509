//! Who makes a call, so that a refusal ends the calls that it concerns and no others.

use crate::settings::{ApiKey, BaseUrl, ServerSettings};

/// Who makes calls. A refused key ends all calls with that key; a refused model ends all calls to that model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    base_url: BaseUrl,
    key: Option<ApiKey>,
    model: String,
}

impl Caller {
    pub(super) fn new(server: &ServerSettings, model: &str) -> Self {
        Self {
            base_url: server.base_url.clone(),
            key: server.api_key.clone(),
            model: model.to_owned(),
        }
    }

    /// Whether both send the server the same credentials.
    pub(super) fn has_account_of(&self, other: &Self) -> bool {
        self.base_url == other.base_url && self.key == other.key
    }
}
