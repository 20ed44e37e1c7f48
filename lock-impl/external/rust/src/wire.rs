//! Sees every byte that the process sends and reads over sockets: the library takes no connection of ours, so `send` and its
//! kin are defined here, before the C library's own, which they call.

use libc::{c_int, c_void, iovec, msghdr, size_t, ssize_t};
use std::collections::HashSet;
use std::ffi::CStr;
use std::mem::transmute;
use std::sync::{Mutex, OnceLock};

/// A command that named the key of the operation that runs, as it left.
pub struct Sent {
    pub at_ns: i64,
    /// A SET NX: one try on one server.
    pub is_try: bool,
}

#[derive(Default)]
struct Wire {
    key: Vec<u8>,
    sent: Vec<Sent>,
    unanswered: HashSet<c_int>,
    is_lost: bool,
}

static WIRE: Mutex<Option<Wire>> = Mutex::new(None);

/// Starts an operation on a key; what came before it is forgotten.
pub fn begin(key: &str) {
    *WIRE.lock().unwrap() = Some(Wire { key: key.as_bytes().to_vec(), ..Wire::default() });
}

/// What was sent, and whether one of these commands had no answer.
pub fn seen() -> (Vec<Sent>, bool) {
    let wire = WIRE.lock().unwrap().take().unwrap_or_default();
    let is_in_doubt = wire.is_lost || !wire.unanswered.is_empty();
    (wire.sent, is_in_doubt)
}

/// When the granted try left, on the first server that was asked: commands after the last that was no try, the earliest of
/// them. With a doubt nobody knows which try it was, and the first of all accuses nobody.
pub fn grant_sent_ns(sent: &[Sent], is_in_doubt: bool) -> Option<i64> {
    let from = sent.iter().rposition(|one| !one.is_try).map_or(0, |last| last + 1);
    let tries = if is_in_doubt { sent } else { &sent[from..] };
    tries.iter().map(|one| one.at_ns).min()
}

/// Raw CLOCK_MONOTONIC, which no fault touches.
pub fn monotonic_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

fn sending(socket: c_int, bytes: &[u8]) {
    let at_ns = monotonic_ns();
    let mut guard = WIRE.lock().unwrap();
    let Some(wire) = guard.as_mut() else { return };
    if !contains(bytes, &wire.key) {
        return;
    }
    let is_try = contains(&bytes[..bytes.len().min(20)], b"\r\nSET\r\n");
    wire.sent.push(Sent { at_ns, is_try });
    wire.unanswered.insert(socket);
}

/// `read`: how many bytes; none, or an error that is no "later", is the end of the connection.
fn received(socket: c_int, read: ssize_t) {
    let is_later = read < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock;
    if is_later {
        return;
    }
    let mut guard = WIRE.lock().unwrap();
    let Some(wire) = guard.as_mut() else { return };
    let was_asked = wire.unanswered.remove(&socket);
    wire.is_lost |= was_asked && read <= 0;
}

fn closing(socket: c_int) {
    let mut guard = WIRE.lock().unwrap();
    let Some(wire) = guard.as_mut() else { return };
    wire.is_lost |= wire.unanswered.remove(&socket);
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && bytes.windows(part.len()).any(|window| window == part)
}

/// The C library's own function of that name.
fn real(cell: &OnceLock<usize>, name: &CStr) -> usize {
    *cell.get_or_init(|| unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) as usize })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn send(socket: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    static REAL: OnceLock<usize> = OnceLock::new();
    sending(socket, unsafe { std::slice::from_raw_parts(buffer.cast(), length) });
    let real: extern "C" fn(c_int, *const c_void, size_t, c_int) -> ssize_t = unsafe { transmute(real(&REAL, c"send")) };
    real(socket, buffer, length, flags)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    static REAL: OnceLock<usize> = OnceLock::new();
    let parts = unsafe { std::slice::from_raw_parts((*message).msg_iov, (*message).msg_iovlen as usize) };
    sending(socket, &joined(parts));
    let real: extern "C" fn(c_int, *const msghdr, c_int) -> ssize_t = unsafe { transmute(real(&REAL, c"sendmsg")) };
    real(socket, message, flags)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(file: c_int, parts: *const iovec, count: c_int) -> ssize_t {
    static REAL: OnceLock<usize> = OnceLock::new();
    sending(file, &joined(unsafe { std::slice::from_raw_parts(parts, count as usize) }));
    let real: extern "C" fn(c_int, *const iovec, c_int) -> ssize_t = unsafe { transmute(real(&REAL, c"writev")) };
    real(file, parts, count)
}

fn joined(parts: &[iovec]) -> Vec<u8> {
    let bytes = |part: &iovec| unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) };
    parts.iter().flat_map(|part| bytes(part).to_vec()).collect()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(socket: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    static REAL: OnceLock<usize> = OnceLock::new();
    let real: extern "C" fn(c_int, *mut c_void, size_t, c_int) -> ssize_t = unsafe { transmute(real(&REAL, c"recv")) };
    let read = real(socket, buffer, length, flags);
    received(socket, read);
    read
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(file: c_int) -> c_int {
    static REAL: OnceLock<usize> = OnceLock::new();
    closing(file);
    let real: extern "C" fn(c_int) -> c_int = unsafe { transmute(real(&REAL, c"close")) };
    real(file)
}
