//! A lock client for lock-torture around rslock, a Redlock of Rust. The one argument names it.
//!
//! docs/protocol.md describes what is said on standard input and output; this file is that, `wire.rs` what shows when a command
//! really left and whether it was answered.

mod wire;

use redis::Client as Redis;
use rslock::{Lock, LockError, LockManager};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// `fail`: certainly not done. `info`: cannot tell.
enum Not {
    Done(String),
    Certain(String),
}

struct Client {
    locks: Option<LockManager>,
    is_quorum: bool,
    holds: HashMap<u64, Lock>,
}

fn main() {
    if std::env::args().nth(1).as_deref() != Some("rslock") {
        eprintln!("name one library: rslock");
        std::process::exit(2);
    }
    let (asking, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = asking.send(line);
        }
        std::process::exit(0); // at once, also in the middle of a wait
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut client = Client { locks: None, is_quorum: false, holds: HashMap::new() };
    for line in asked {
        let request: Value = serde_json::from_str(&line).expect("a request is JSON");
        let answer = runtime.block_on(client.handle(&request));
        let mut output = std::io::stdout().lock();
        writeln!(output, "{answer}").and_then(|()| output.flush()).expect("standard output is open");
    }
}

impl Client {
    async fn handle(&mut self, request: &Value) -> Value {
        let began = wire::monotonic_ns();
        let outcome = match text(request, "op") {
            "init" => self.init(request).await,
            "acquire" => self.acquire(request).await,
            "extend" => self.extend(request).await,
            "release" => self.release(request).await,
            "clock" => Ok(json!({ "wallMs": wall_ms() })),
            other => Err(Not::Done(format!("unsupported: operation {other}"))),
        };
        let ended = wire::monotonic_ns();
        let id = &request["id"];
        match outcome {
            Ok(value) => json!({ "id": id, "type": "ok", "began": began, "ended": ended, "value": value }),
            Err(Not::Done(reason)) => {
                json!({ "id": id, "type": "fail", "began": began, "ended": ended, "reason": reason })
            }
            Err(Not::Certain(reason)) => {
                json!({ "id": id, "type": "info", "began": began, "ended": ended, "reason": reason })
            }
        }
    }

    async fn init(&mut self, request: &Value) -> Result<Value, Not> {
        let topology = &request["topology"];
        let kind = text(topology, "kind");
        self.is_quorum = kind == "redlock";
        let nodes = match kind {
            "single" | "replica" => vec![&topology["node"]],
            "redlock" => topology["nodes"].as_array().into_iter().flatten().collect(),
            other => return Err(Not::Done(format!("lock: rust/rslock makes no sense on {other}"))),
        };
        let mut clients = Vec::new();
        for node in nodes {
            let password = topology["password"].as_str().map_or(String::new(), |word| format!(":{word}@"));
            let address = format!("redis://{password}{}:{}", text(node, "host"), node["port"]);
            clients.push(Redis::open(address).map_err(|error| Not::Done(error.to_string()))?);
        }
        let mut reached = 0;
        for client in &clients {
            reached += usize::from(client.get_multiplexed_async_connection().await.is_ok());
        }
        if reached <= clients.len() / 2 {
            return Err(Not::Done(format!("unreachable: {reached} of {} servers answer", clients.len())));
        }
        self.locks = Some(LockManager::from_clients(clients));
        Ok(json!({
            "lock": "rust/rslock",
            "features": ["extend", "clock"],
            "topologies": ["redlock", "single", "replica"],
        }))
    }

    async fn acquire(&mut self, request: &Value) -> Result<Value, Not> {
        let (key, lease) = (text(request, "key"), milliseconds(request, "leaseMs"));
        let give_up = Instant::now() + milliseconds(request, "waitMs");
        let locks = self.locks.clone().ok_or_else(|| Not::Done("no init".into()))?;
        loop {
            wire::begin(key);
            let taken = locks.lock(key, lease).await;
            let (sent, is_in_doubt) = wire::seen();
            match taken {
                Ok(lock) => {
                    let valid_for_ms = lock.validity_time;
                    self.holds.insert(request["id"].as_u64().unwrap_or_default(), lock);
                    let grant_sent = wire::grant_sent_ns(&sent, is_in_doubt);
                    return Ok(json!({ "grantSent": grant_sent, "validForMs": valid_for_ms }));
                }
                // It tries three times by itself; who waits for longer asks again.
                Err(LockError::Unavailable) if Instant::now() < give_up && !is_in_doubt => {}
                Err(error) if self.is_quorum => return Err(Not::Done(format!("no-quorum: {error}"))),
                Err(error) => return Err(judged(&error.to_string(), "held", sent.is_empty(), is_in_doubt)),
            }
        }
    }

    async fn extend(&mut self, request: &Value) -> Result<Value, Not> {
        let hold = hold_of(request);
        let lock = self.holds.get(&hold).ok_or_else(|| Not::Done(format!("unknown-hold: {hold}")))?;
        let locks = self.locks.clone().ok_or_else(|| Not::Done("no init".into()))?;
        wire::begin(&String::from_utf8_lossy(&lock.resource));
        let extended = locks.extend(lock, milliseconds(request, "leaseMs")).await;
        let (sent, is_in_doubt) = wire::seen();
        match extended {
            Ok(longer) => Ok(json!({
                "sent": sent.iter().map(|one| one.at_ns).min(),
                "validForMs": longer.validity_time,
            })),
            Err(error) => Err(judged(&error.to_string(), "not-owner", sent.is_empty(), is_in_doubt)),
        }
    }

    /// The library says nothing of what came of it: where all was answered the server's record is what shows that.
    async fn release(&mut self, request: &Value) -> Result<Value, Not> {
        let hold = hold_of(request);
        let lock = self.holds.remove(&hold).ok_or_else(|| Not::Done(format!("unknown-hold: {hold}")))?;
        let locks = self.locks.clone().ok_or_else(|| Not::Done("no init".into()))?;
        wire::begin(&String::from_utf8_lossy(&lock.resource));
        locks.unlock(&lock).await;
        let (sent, is_in_doubt) = wire::seen();
        if sent.is_empty() {
            return Err(Not::Done("unreachable".into()));
        }
        if is_in_doubt {
            return Err(Not::Certain("reconnect: no answer".into()));
        }
        Ok(Value::Null)
    }
}

fn judged(error: &str, otherwise: &str, sent_nothing: bool, is_in_doubt: bool) -> Not {
    if sent_nothing {
        return Not::Done(format!("unreachable: {error}"));
    }
    if is_in_doubt { Not::Certain(format!("reconnect: {error}")) } else { Not::Done(otherwise.into()) }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn hold_of(request: &Value) -> u64 {
    request["hold"].as_u64().unwrap_or_default()
}

fn milliseconds(value: &Value, field: &str) -> Duration {
    Duration::from_secs_f64(value[field].as_f64().unwrap_or_default() / 1000.0)
}

fn wall_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}
