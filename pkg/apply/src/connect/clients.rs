//! The HTTP clients of a server.

use std::time::Duration;

use data_encoding::BASE64;
use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_timeout::TimeoutConnector;
use hyper_util::{
    client::legacy::{
        self,
        connect::{
            Connection,
            proxy::{SocksV5, Tunnel},
        },
    },
    rt::TokioExecutor,
};
use kube::client::{ConfigExt as _, middleware::AuthLayer};
use percent_encoding::percent_decode_str;
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::decompression::DecompressionLayer;

use super::fence::{Fence, FencedConnector};
use crate::RequestEffect;

/// The time limit for a new connection.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The clients of a server. The clients share credentials, but no connections.
#[derive(Clone)]
pub(crate) struct Clients {
    unfenced: kube::Client,
    /// The client for requests that write, behind the fence.
    fenced: kube::Client,
}

impl Clients {
    /// Uses one client without a fence for all requests.
    pub(super) fn unfenced_only(client: kube::Client) -> Self {
        Self { unfenced: client.clone(), fenced: client }
    }

    /// Creates the clients. A credential plugin runs here.
    pub(super) fn new(config: &kube::Config, fence: &Fence) -> Result<Self, kube::Error> {
        // Keep this order: only `auth_layer` reports the failure of a plugin.
        let (credentials, tls) = (config.auth_layer()?, config.rustls_client_config()?);
        let parts = ClientBuilder { config, credentials, tls };
        Ok(Self { unfenced: parts.client(&Fence::default())?, fenced: parts.client(fence)? })
    }

    /// Returns the client for a request with this effect.
    pub(crate) fn for_effect(&self, effect: RequestEffect) -> &kube::Client {
        match effect {
            RequestEffect::Write => &self.fenced,
            RequestEffect::None | RequestEffect::Lease => &self.unfenced,
        }
    }
}

/// The parts of a client.
struct ClientBuilder<'a> {
    config: &'a kube::Config,
    credentials: Option<AuthLayer>,
    tls: rustls::ClientConfig,
}

impl ClientBuilder<'_> {
    fn client(&self, fence: &Fence) -> Result<kube::Client, kube::Error> {
        let tcp = FencedConnector::new(fence);
        let Some(proxy) = &self.config.proxy_url else { return self.build(tcp) };
        match proxy.scheme_str() {
            Some("socks5") => self.build(SocksV5::new(proxy.clone(), tcp)),
            Some("http" | "https") => {
                let tunnel = Tunnel::new(proxy.clone(), self.https(tcp)?);
                self.build(match basic_credentials(proxy) {
                    Some(credentials) => tunnel.with_auth(credentials),
                    None => tunnel,
                })
            }
            _ => Err(kube::Error::ProxyProtocolUnsupported { proxy_url: Box::new(proxy.clone()) }),
        }
    }

    /// Creates a client over connections to the server.
    fn build<C>(&self, connector: C) -> Result<kube::Client, kube::Error>
    where
        C: Service<Uri, Error: Into<BoxError>, Future: Send> + Clone + Send + Sync + Unpin + 'static,
        C::Response: Connection + Read + Write + Send + Unpin + 'static,
    {
        let mut connector = TimeoutConnector::new(self.https(connector)?);
        connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let gzip = DecompressionLayer::new().gzip(!self.config.disable_compression);
        let service = ServiceBuilder::new()
            .layer(self.config.base_uri_layer())
            .layer(gzip)
            .option_layer(self.credentials.as_ref())
            .layer(self.config.extra_headers_layer()?)
            .map_err(BoxError::from)
            .service(legacy::Client::builder(TokioExecutor::new()).build(connector));
        Ok(kube::Client::new(service, self.config.default_namespace.clone()))
    }

    fn https<C>(&self, connector: C) -> Result<HttpsConnector<C>, kube::Error> {
        let builder = HttpsConnectorBuilder::new().with_tls_config(self.tls.clone()).https_or_http();
        let builder = match &self.config.tls_server_name {
            Some(name) => {
                let name = name.clone().try_into().map_err(kube::client::RustlsTlsError::InvalidServerName);
                builder.with_server_name_resolver(FixedServerNameResolver::new(
                    name.map_err(kube::Error::RustlsTls)?,
                ))
            }
            None => builder,
        };
        Ok(builder.enable_http1().wrap_connector(connector))
    }
}

/// Returns the user and password of a URL in the form that a proxy expects.
fn basic_credentials(url: &Uri) -> Option<HeaderValue> {
    let (credentials, _) = url.authority()?.as_str().rsplit_once('@')?;
    let encoded = BASE64.encode(&percent_decode_str(credentials).collect::<Vec<_>>());
    let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}
