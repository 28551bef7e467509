//! The server: a port of this machine, and requests until the user ends it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::address::Address;
use super::guard::{Guard, guard};

/// How long answers that are being sent may take after the user ended the server.
const GRACE: Duration = Duration::from_secs(1);

/// A bound port that serves nothing yet.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    address: Address,
}

impl Server {
    /// Takes a port of 127.0.0.1, which other machines do not reach; a free one without `port`.
    pub(super) async fn bind(port: Option<u16>) -> Result<Self> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await;
        let listener = bound.with_context(|| match port {
            Some(port) => format!(
                "cannot listen on port {port} of 127.0.0.1; leave out `--port` to take a free one"
            ),
            None => "cannot listen on any port of 127.0.0.1".to_owned(),
        })?;
        let address = listener
            .local_addr()
            .context("cannot determine the port of the server")?;
        Ok(Self {
            listener,
            address: Address::new(address.port()),
        })
    }

    pub(super) fn address(&self) -> Address {
        self.address
    }

    /// Answers requests that the guard lets through, until `stop`.
    pub(super) async fn serve(
        self,
        guarded: Guard,
        pages: Router,
        stop: CancellationToken,
    ) -> Result<()> {
        // The pages are routed behind the guard, because it takes the token out of the path.
        let guarded = Router::new()
            .fallback_service(pages)
            .layer(from_fn_with_state(Arc::new(guarded), guard));
        let serving = axum::serve(self.listener, guarded)
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        let given_up = async {
            stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            served = serving => served.context("the server failed"),
            () = given_up => Ok(()),
        }
    }
}
