//! Headers between two connections: which belong to one of them alone.
//! Deliberately adds none of its own: upstreams and clients see what the other sent.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Those that HTTP defines for one connection (RFC 9110, 7.6.1), and `Expect`, which was answered here.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];

/// Removes what belongs to the connection that the message came by.
pub(crate) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

/// One header of all cookies: HTTP/2 may send them apart, and HTTP/1.1 may not.
pub(crate) fn join_cookies(headers: &mut HeaderMap) {
    let cookies: Vec<&[u8]> = headers
        .get_all(header::COOKIE)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    if cookies.len() < 2 {
        return;
    }
    if let Ok(mut joined) = HeaderValue::from_bytes(&cookies.join(&b"; "[..])) {
        joined.set_sensitive(true);
        headers.insert(header::COOKIE, joined);
    }
}

/// The protocol that a request asks to change to.
pub(crate) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let asks = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|token| token.trim().eq_ignore_ascii_case("upgrade"));
    asks.then(|| headers.get(header::UPGRADE).cloned())
        .flatten()
}

/// Adds `flag` to a header that holds a list, unless it is there.
pub(crate) fn add_to_list(headers: &mut HeaderMap, name: &'static str, flag: &'static str) {
    let there = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|known| known.trim() == flag);
    if there {
        return;
    }
    // One header with a list is understood everywhere, several of one name are not.
    let list = match headers.get(name).and_then(|value| value.to_str().ok()) {
        Some(known) if !known.trim().is_empty() => {
            HeaderValue::from_str(&format!("{known},{flag}")).ok()
        }
        _ => None,
    };
    headers.insert(name, list.unwrap_or(HeaderValue::from_static(flag)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("expect", "100-continue"),
            ("authorization", "Bearer k"),
            ("x-other", "2"),
        ] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        strip_hop_by_hop(&mut headers);
        let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["authorization", "x-other"]);
    }

    #[test]
    fn flags_are_added_once() {
        let mut headers = HeaderMap::new();
        add_to_list(&mut headers, "anthropic-beta", "a-1");
        add_to_list(&mut headers, "anthropic-beta", "b-2");
        add_to_list(&mut headers, "anthropic-beta", "a-1");
        assert_eq!(headers["anthropic-beta"], "a-1,b-2");
    }
}
