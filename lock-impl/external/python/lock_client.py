#!/usr/bin/env python3
"""A lock client for lock-torture, with nothing but Python's standard library.

The lock: SET NX PX with a random value, released and extended by scripts that compare it, on a single Redis or on the one
behind a virtual address. The protocol is described in docs/protocol.md. To torture a lock of your own, replace the class
Lock and keep the rest.

What it must get right, whatever the lock:
  ok    it happened
  fail  it certainly did not happen
  info  it cannot tell
"""

import json
import os
import queue
import random
import secrets
import socket
import sys
import threading
import time

# ------------------------------------------------------------------------------------------------------- three outcomes


class Refused(Exception):
    """Certainly not done; the message is the reason that the report shows."""


class Doubt(Exception):
    """Sent, but not answered: it may have been done or not."""


# --------------------------------------------------------------------------------------------------------- Redis (RESP2)


class ReplyError(Exception):
    """The server's answer was an error: it did not carry the command out."""


class Redis:
    """One connection, opened when needed, never retrying: a command that was sent is never sent again."""

    def __init__(self, host, port, timeout_s, password=None):
        self.address = (host, port)
        self.timeout_s = timeout_s
        self.password = password
        self.socket = None
        self.reader = None

    def connect(self):
        try:
            self.socket = socket.create_connection(self.address, timeout=self.timeout_s)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.reader = self.socket.makefile("rb")
            if self.password is not None:
                self.socket.sendall(encode(["AUTH", self.password]))
                self.read_reply()
        except OSError as error:
            # Nothing of the lock's own has been sent yet.
            self.close()
            raise Refused("unreachable: %s" % error)
        except ReplyError:
            self.close()  # or the next command would go to a server that does not know us
            raise

    def command(self, *args):
        """The server's reply and when the command left, in monotonic nanoseconds."""
        if self.socket is None:
            self.connect()
        sent_ns = time.monotonic_ns()
        try:
            self.socket.sendall(encode(args))
            return self.read_reply(), sent_ns
        except ReplyError as error:
            if str(error).startswith("READONLY"):
                self.close()  # a primary no more: behind the same address there is another by now
            raise
        except OSError as error:
            # Nothing may be read from this connection any more: a late answer would pass for the next command's.
            self.close()
            raise Doubt("no answer: %s" % (error or type(error).__name__))

    def read_reply(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise OSError("connection closed")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"+":
            return rest
        if kind == b"-":
            raise ReplyError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            length = int(rest)
            if length < 0:
                return None
            body = self.reader.read(length + 2)
            if len(body) != length + 2:
                raise OSError("connection closed")
            return body[:-2].decode()
        raise OSError("unexpected reply %r" % line)

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = self.reader = None


def encode(args):
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        data = str(arg).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


# ------------------------------------------------------------------------------------------------------------- the lock

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0
"""

EXTEND = """
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
return 0
"""


class Lock:
    """Replace this by yours. Methods return, or raise Refused (certainly not done) or Doubt (cannot tell)."""

    name = "python-set-nx-px"
    features = ["extend", "clock"]
    topologies = ["single", "replica"]

    def __init__(self, topology, options):
        node = topology["node"]
        timeout_s = options["commandTimeoutMs"] / 1000
        self.redis = Redis(node["host"], node["port"], timeout_s, topology.get("password"))
        self.redis.connect()  # fails in the handshake rather than in the first operation
        self.draw = random.Random(options.get("seed"))  # for pauses; owners are never drawn from it

    def acquire(self, key, lease_ms, wait_ms):
        """(hold, when the granted attempt left). A hold is whatever extend and release need."""
        give_up_ns = time.monotonic_ns() + wait_ms * 1_000_000
        while True:
            owner = secrets.token_hex(20)
            reply, sent_ns = self.redis.command("SET", key, owner, "PX", lease_ms, "NX")
            if reply == "OK":
                return (key, owner), sent_ns
            left_s = (give_up_ns - time.monotonic_ns()) / 1e9
            if left_s <= 0:
                raise Refused("held")
            time.sleep(min(self.draw.uniform(0.010, 0.030), left_s))

    def extend(self, hold, lease_ms):
        """When the extension left."""
        key, owner = hold
        reply, sent_ns = self.redis.command("EVAL", EXTEND, 1, key, owner, lease_ms)
        if reply != 1:
            raise Refused("not-owner")
        return sent_ns

    def release(self, hold):
        key, owner = hold
        reply, _ = self.redis.command("EVAL", RELEASE, 1, key, owner)
        if reply != 1:
            raise Refused("not-owner")


# --------------------------------------------------------------------------------------------------------- the protocol


class Client:
    def __init__(self):
        self.lock = None
        self.holds = {}  # id of the acquire -> (hold, ...)

    def init(self, request):
        kind = request["topology"]["kind"]
        if kind not in Lock.topologies:
            raise Refused("lock: %s makes no sense on %s" % (Lock.name, kind))
        self.lock = Lock(request["topology"], request["options"])
        return {"lock": Lock.name, "features": Lock.features, "topologies": Lock.topologies}

    def acquire(self, request):
        lease_ms = request["leaseMs"]
        hold, sent_ns = self.lock.acquire(request["key"], lease_ms, request["waitMs"])
        valid_ms = valid_for_ms(sent_ns, lease_ms)
        if valid_ms <= 0:
            # Not given back: a release that fails would only add a doubt, and the lease is as good as over.
            raise Refused("granted-late")
        self.holds[request["id"]] = hold
        return {"grantSent": sent_ns, "validForMs": valid_ms}

    def extend(self, request):
        sent_ns = self.lock.extend(self.hold_of(request), request["leaseMs"])
        return {"sent": sent_ns, "validForMs": valid_for_ms(sent_ns, request["leaseMs"])}

    def release(self, request):
        self.lock.release(self.hold_of(request))
        del self.holds[request["hold"]]
        return None

    def clock(self, request):
        return {"wallMs": time.time() * 1000}

    def hold_of(self, request):
        if request["hold"] not in self.holds:
            raise Refused("unknown-hold: %s" % request["hold"])
        return self.holds[request["hold"]]

    def handle(self, request):
        """The answer to one request, stamped as close to the lock's own code as can be."""
        operations = {
            "init": self.init,
            "acquire": self.acquire,
            "extend": self.extend,
            "release": self.release,
            "clock": self.clock,
        }
        operation = operations.get(request["op"])
        answer = {"id": request["id"]}
        began_ns = time.monotonic_ns()
        try:
            if operation is None:
                raise Refused("unsupported: operation %s" % request["op"])
            value = operation(request)
            answer.update(type="ok")
            if value is not None:
                answer.update(value=value)
        except Refused as refusal:
            answer.update(type="fail", reason=str(refusal))
        except ReplyError as error:
            # The one command that this lock sends was answered with an error, so it was not carried out.
            answer.update(type="fail", reason=str(error).split(" ")[0].lower())
        except Exception as error:  # Doubt, and every mistake in the lock's own code: nothing is certain
            answer.update(type="info", reason="%s: %s" % (type(error).__name__, error))
        # Not taken inside the try: an operation that failed has ended, too.
        answer.update(began=began_ns, ended=time.monotonic_ns())
        return answer


def valid_for_ms(sent_ns, lease_ms):
    """The lease, less what has passed since it was asked for, less what two clocks may differ by."""
    elapsed_ms = (time.monotonic_ns() - sent_ns) / 1e6
    return lease_ms - elapsed_ms - (lease_ms * 0.01 + 2)


def read_requests(requests):
    """Reads standard input in a thread of its own, so that the program ends with it even in the middle of a wait."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def main():
    # Standard output is the protocol's; whatever else prints goes to standard error.
    protocol, sys.stdout = sys.stdout, sys.stderr
    requests = queue.Queue()
    threading.Thread(target=read_requests, args=(requests,), daemon=True).start()
    client = Client()
    while True:
        line = requests.get()
        if line.strip():
            protocol.write(json.dumps(client.handle(json.loads(line))) + "\n")
            protocol.flush()


if __name__ == "__main__":
    main()
