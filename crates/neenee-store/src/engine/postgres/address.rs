//! The address of a database, read into what the client needs.
//! Deliberately never repeated in an error: it may hold a password, even when it is malformed.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

/// How long one attempt to connect may take when the address does not say.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a connection may be silent before the system asks whether the other side is there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// What the certificate of the server must prove, as libpq's `sslmode` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Nothing: the connection is encrypted, to whomever.
    Anyone,
    /// It is signed by a known authority.
    Authority(Roots),
    /// And it is for the host of the address.
    Host(Roots),
}

/// Authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// Those of the system.
    System,
    /// Those of a PEM file.
    File(PathBuf),
}

/// An address that was read.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) trust: Trust,
}

/// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`.
pub(super) fn read(text: &str) -> Result<Address, String> {
    let (base, parameters) = parts(text);
    let (mut mode, mut roots, mut rest) = ("prefer".to_owned(), None, Vec::new());
    for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", value)) => mode = decoded(value),
            Some(("sslrootcert", value)) => {
                roots = Some(match decoded(value) {
                    value if value == "system" => Roots::System,
                    value => Roots::File(value.into()),
                });
            }
            _ => rest.push(parameter),
        }
    }
    let mut config: Config = format!("{base}?{}", rest.join("&")).parse().map_err(|_| {
        "the address cannot be read; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, special \
             characters of the password as %XX"
            .to_owned()
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("the address names no host".to_owned());
    }
    let (mode, trust) = trust(&mode, roots)?;
    config.ssl_mode(mode);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    config.keepalives_idle(config.get_keepalives_idle().min(KEEPALIVE));
    if config.get_application_name().is_none() {
        config.application_name("neenee");
    }
    Ok(Address { config, trust })
}

fn trust(mode: &str, roots: Option<Roots>) -> Result<(SslMode, Trust), String> {
    Ok(match (mode, roots) {
        ("disable", _) => (SslMode::Disable, Trust::Anyone),
        ("allow" | "prefer", _) => (SslMode::Prefer, Trust::Anyone),
        ("require", None) => (SslMode::Require, Trust::Anyone),
        // As libpq does: whoever names an authority wants it asked.
        ("require", Some(roots)) => (SslMode::Require, Trust::Authority(roots)),
        ("verify-ca", roots) => (
            SslMode::Require,
            Trust::Authority(roots.unwrap_or(Roots::System)),
        ),
        ("verify-full", roots) => (
            SslMode::Require,
            Trust::Host(roots.unwrap_or(Roots::System)),
        ),
        _ => {
            return Err(
                "sslmode is one of disable, allow, prefer, require, verify-ca and verify-full"
                    .to_owned(),
            );
        }
    })
}

/// What is before the parameters, and the parameters. A `?` in the password is none, as for the
/// client, which ends the user's part at the first `@`.
fn parts(text: &str) -> (&str, &str) {
    let from = text.find('@').unwrap_or(0);
    match text[from..].find('?') {
        Some(at) => (&text[..from + at], &text[from + at + 1..]),
        None => (text, ""),
    }
}

fn decoded(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::{Host, SslMode};

    use super::{Roots, Trust, read};

    #[test]
    fn sslmode_says_whether_and_whom_to_trust() {
        let file = || Roots::File("/ca one.pem".into());
        for (parameters, mode, trust) in [
            ("", SslMode::Prefer, Trust::Anyone),
            ("?sslmode=disable", SslMode::Disable, Trust::Anyone),
            ("?sslmode=require", SslMode::Require, Trust::Anyone),
            (
                "?sslrootcert=%2Fca%20one.pem&sslmode=require",
                SslMode::Require,
                Trust::Authority(file()),
            ),
            (
                "?sslmode=verify-ca&sslrootcert=/ca%20one.pem",
                SslMode::Require,
                Trust::Authority(file()),
            ),
            (
                "?sslmode=verify-full&application_name=x",
                SslMode::Require,
                Trust::Host(Roots::System),
            ),
        ] {
            let address = read(&format!("postgres://u:p%40?@h:5/d{parameters}")).expect(parameters);
            assert_eq!(
                (address.config.get_ssl_mode(), address.trust),
                (mode, trust),
                "{parameters}"
            );
            assert_eq!(address.config.get_password(), Some(&b"p@?"[..]));
            assert_eq!(address.config.get_hosts(), [Host::Tcp("h".to_owned())]);
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_repeated() {
        for text in [
            "postgres://u:secret@h:secret/d",
            "postgres://u@h/d?secret",
            "postgres://u@h/d?secret=1",
            "postgres://u@h/d?sslmode=secret",
            "postgres://u:secret@/d",
        ] {
            let cause = read(text).err().expect(text);
            assert!(!cause.contains("secret"), "{cause}");
        }
    }
}
