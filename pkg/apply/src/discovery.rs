//! Asking a server what it serves.

mod aggregated;
mod legacy;

use bytes::Bytes;
use futures::future::try_join;
use serde::Deserialize;

use crate::{ApiError, Kinds, Server, server::call::Call};

/// The whole at once; a server that cannot give it takes the second.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// What tells the two sorts of answers apart.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: String,
}

/// Asks in two requests where the server can answer so, else group by group.
/// A group that cannot be asked, such as that of a dead aggregated API, is noted as broken and stops nothing.
pub(crate) async fn discover(server: &Server) -> Result<Kinds, ApiError> {
    let (core, groups) = try_join(ask(server, "/api"), ask(server, "/apis")).await?;
    let mut kinds = Kinds::default();
    for (call, answer) in [core, groups] {
        let head: Head = server.parse(&call, &answer)?;
        if head.kind == "APIGroupDiscoveryList" {
            aggregated::add(&mut kinds, server.parse(&call, &answer)?);
        } else {
            legacy::add(&mut kinds, server, &call, &answer).await?;
        }
    }
    Ok(kinds)
}

async fn ask(server: &Server, path: &str) -> Result<(Call, Bytes), ApiError> {
    let call = Call::get("ask what the server serves", path).accept(ACCEPT);
    let answer = server.send(&call).await?;
    Ok((call, answer))
}

#[cfg(test)]
mod tests;
