//! `neenee proxy`: serves until it is told to stop, or as long as an agent runs.
//! Deliberately no HTTP; that is `neenee-proxy`'s.

mod agent;
mod serve;
mod told;

use std::env;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use neenee_proxy::{FileArchive, Log, Proxy, ProxySettings, Silent};
use tokio::net::TcpListener;

use crate::cli::{GlobalArgs, ProxyArgs, ProxyCommand};
use crate::error::Failure;
use crate::settings::{Key, Origin, Settings, Value};

pub(super) fn run(args: &ProxyArgs, global: &GlobalArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    let ended = runtime.block_on(async {
        match &args.command {
            None => serve::run(args, global).await,
            Some(ProxyCommand::Run(run)) => agent::run(args, run, global).await,
        }
    });
    // A commit that is being written may end; nothing else is worth waiting for.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    ended
}

/// A proxy that is ready to be served.
struct Bound {
    proxy: Proxy,
    listener: TcpListener,
    address: SocketAddr,
    token: Option<String>,
}

impl Bound {
    /// `http://…` as an agent on this machine reaches it.
    fn url(&self) -> String {
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        format!("http://{host}:{}", self.address.port())
    }
}

/// The configuration with the flags of this command.
fn settings(args: &ProxyArgs, global: &GlobalArgs, more: &[String]) -> Result<Settings> {
    let mut settings = super::settings(global)?;
    settings.window_flags(args.window, None);
    if let Some(listen) = &args.listen {
        let listen = Value::Text(listen.clone());
        settings.set(Key::ProxyListen, listen, Origin::Flag("--listen"));
    }
    let upstreams: Vec<String> = more.iter().chain(&args.upstream).cloned().collect();
    if !upstreams.is_empty() {
        let mut all = match &settings.get(Key::ProxyUpstreams).value {
            Some(Value::List(all)) => {
                // What is merged with a project's value is refused as that one is.
                settings.proxy()?;
                all.clone()
            }
            _ => Vec::new(),
        };
        all.extend(upstreams);
        settings.set(
            Key::ProxyUpstreams,
            Value::List(all),
            Origin::Flag("--upstream"),
        );
    }
    Ok(settings)
}

/// Opens the archive and binds the address.
async fn bind(args: &ProxyArgs, settings: &Settings, listen: &str, silent: bool) -> Result<Bound> {
    let mut proxy = settings.proxy()?;
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        let taken = error.kind() == std::io::ErrorKind::AddrInUse;
        let failure = Failure::new(format!("failed to listen at {listen}: {error}"));
        if taken {
            failure.fix("choose another port with --listen 127.0.0.1:PORT; 0 takes a free one")
        } else {
            failure.fix("write an address and a port, as 127.0.0.1:6336")
        }
    })?;
    let address = listener
        .local_addr()
        .context("failed to read the address")?;
    proxy.token = token(args, address)?;
    let folder = archive(args, settings)?;
    let archive = FileArchive::open(&folder)
        .with_context(|| format!("failed to open the archive in {}", folder.display()))?;
    let log: Arc<dyn Log> = match &args.log {
        Some(path) => Arc::new(told::ToFile::open(path)?),
        None if silent => Arc::new(Silent),
        None => Arc::new(told::ToStderr),
    };
    Ok(Bound {
        token: proxy.token.clone(),
        proxy: Proxy::new(proxy, Arc::new(archive), log)
            .map_err(|error| Failure::new(format!("failed to {error}")))?,
        listener,
        address,
    })
}

/// The token of the page: none on loopback, unless one is asked for.
fn token(args: &ProxyArgs, address: SocketAddr) -> Result<Option<String>> {
    if let Some(path) = &args.token_file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("failed to read {}", path.display()))?;
        let token = text.trim();
        if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic() && c != ';') {
            return Err(Failure::new(format!(
                "failed to read {}: expected a token of letters and digits",
                path.display()
            ))
            .into());
        }
        return Ok(Some(token.to_owned()));
    }
    if address.ip().is_loopback() {
        return Ok(None);
    }
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::new(format!("failed to make up a token: {error}")))?;
    Ok(Some(
        bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    ))
}

/// The settings with the token that the page has already.
fn reloaded(
    args: &ProxyArgs,
    global: &GlobalArgs,
    token: Option<&String>,
) -> Result<ProxySettings> {
    let mut proxy = settings(args, global, &[])?.proxy()?;
    proxy.token = token.cloned();
    Ok(proxy)
}

/// The folder of originals: that of the flag, of the configuration, else beside the user's other data.
fn archive(args: &ProxyArgs, settings: &Settings) -> Result<PathBuf> {
    if let Some(folder) = &args.archive {
        return Ok(folder.clone());
    }
    if let Some(folder) = settings.proxy_archive()? {
        return Ok(folder.into());
    }
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let data = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else {
        absolute("XDG_DATA_HOME").or_else(|| Some(env::home_dir()?.join(".local/share")))
    };
    data.map(|data| data.join("neenee").join("proxy"))
        .ok_or_else(|| {
            Failure::new("failed to find a folder for originals: there is no home folder")
                .fix("name one with --archive DIR")
                .into()
        })
}

/// What points Codex at the proxy: a provider of its own, with the credentials of the built-in one: that one's conversations go over
/// a WebSocket, which is passed through as it is.
fn codex(url: &str) -> [String; 4] {
    let provider = format!(
        "model_providers.neenee={{name=\"neenee\",base_url=\"{url}/v1\",wire_api=\"responses\",requires_openai_auth=true}}"
    );
    let flag = "-c".to_owned();
    [
        flag.clone(),
        "model_provider=\"neenee\"".to_owned(),
        flag,
        provider,
    ]
}
