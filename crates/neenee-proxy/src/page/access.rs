//! Who may see the page: whoever knows the token, or whoever sits at this machine.
//! Deliberately not by the peer's address: a web page in a local browser has the same one.

use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN};
use http::{Uri, uri::Authority};

const NAME: &str = "neenee_token";

/// Whether a request may see.
pub(super) enum Access {
    /// It may.
    Granted,
    /// It may, and the token in its address is to be kept in this cookie.
    GrantedByQuery(HeaderValue),
    /// It does not know the token; what to do about it.
    Denied(&'static str),
    /// It asks for another host than this one: a page elsewhere that had its name point here.
    Elsewhere,
}

/// Checks a request. Without a token the proxy is bound to loopback, and only that name is answered.
pub(super) fn check(token: Option<&str>, uri: &Uri, headers: &HeaderMap) -> Access {
    let Some(token) = token else {
        let host = uri.authority().cloned().or_else(|| {
            let host = headers.get(HOST)?.to_str().ok()?;
            host.parse::<Authority>().ok()
        });
        let local = host.is_some_and(|host| is_local(host.host()));
        let foreign = headers.get(ORIGIN).is_some_and(|origin| {
            let origin: Option<Uri> = origin.to_str().ok().and_then(|origin| origin.parse().ok());
            !origin.is_some_and(|origin| origin.host().is_some_and(is_local))
        });
        return if local && !foreign {
            Access::Granted
        } else {
            Access::Elsewhere
        };
    };
    let bearer = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let cookie = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='));
    if [bearer, cookie]
        .into_iter()
        .flatten()
        .any(|known| same(known, token))
    {
        return Access::Granted;
    }
    let query = uri
        .query()
        .into_iter()
        .flat_map(|query| query.split('&'))
        .find_map(|pair| pair.strip_prefix("token="));
    if query.is_some_and(|known| same(known, token)) {
        let cookie = format!("{NAME}={token}; Path=/_neenee; HttpOnly; SameSite=Strict");
        return match HeaderValue::from_str(&cookie) {
            Ok(mut cookie) => {
                cookie.set_sensitive(true);
                Access::GrantedByQuery(cookie)
            }
            Err(_) => Access::Granted,
        };
    }
    Access::Denied("the token is missing: open /_neenee/?token=… or send Authorization: Bearer …\n")
}

fn is_local(host: &str) -> bool {
    host == "localhost"
        || host == "[::1]"
        || host
            .parse::<std::net::Ipv4Addr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Compares hashes, so that the time it takes tells nothing.
fn same(left: &str, right: &str) -> bool {
    blake3::hash(left.as_bytes()) == blake3::hash(right.as_bytes())
}
