"""A lock client for lock-torture, to be copied: put your library where `Lock` is, and keep the rest. Python 3.8, no packages."""
import json, os, queue, secrets, socket, sys, threading, time

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0"


class Refused(Exception):
    """It certainly did not happen: nothing was sent, or the answer was no."""


class Doubt(Exception):
    """A command was sent and not answered: it may have happened, or happen yet."""


class Lock:
    """SET NX PX on one server, and scripts that compare the owner."""

    handshake = {"lock": "my-lock", "features": ["extend", "clock"], "topologies": ["single", "replica"]}

    def __init__(self, topology, options):
        self.node, self.password = topology["node"], topology.get("password")
        self.timeout_s = options["commandTimeoutMs"] / 1000
        self.redis = None
        self.command("PING")

    def command(self, *words):
        """The answer, and when the command left: the stamp is taken right before it is sent, never after the answer."""
        try:
            if self.redis is None:
                address = (self.node["host"], self.node["port"])
                self.redis = socket.create_connection(address, self.timeout_s).makefile("rwb")
                if self.password:
                    self.command("AUTH", self.password)
        except OSError as error:
            raise Refused("unreachable: %s" % error)
        sent_ns = time.monotonic_ns()
        try:
            encoded = [str(word).encode() for word in words]
            self.redis.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
            self.redis.flush()
            line = self.redis.readline()
            if not line.endswith(b"\n"):
                raise OSError("the connection was closed")
        except OSError as error:
            self.redis = None
            raise Doubt("reconnect: %s" % error)
        if line[:1] == b"-":
            raise Refused(line[1:].split()[0].decode().lower())
        return line[1:].strip().decode(), sent_ns  # OK, a number, or -1 for nothing; no command here is answered with more

    def acquire(self, key, lease_ms, wait_ms):
        """What is held, and when the try left that was granted."""
        owner, give_up_s = secrets.token_hex(16), time.monotonic() + wait_ms / 1000
        while True:
            answer, sent_ns = self.command("SET", key, owner, "NX", "PX", lease_ms)
            if answer == "OK":
                return (key, owner), sent_ns
            if time.monotonic() >= give_up_s:
                raise Refused("held")
            time.sleep(0.02)

    def extend(self, hold, lease_ms):
        return self.if_ours(EXTEND, *hold, lease_ms)

    def release(self, hold):
        return self.if_ours(RELEASE, *hold)

    def if_ours(self, script, key, *words):
        answer, sent_ns = self.command("EVAL", script, 1, key, *words)
        if answer != "1":
            raise Refused("not-owner")
        return sent_ns


class Client:
    """The protocol: one request a line, one answer to each."""

    holds = {}

    def handle(self, request):
        answer, began_ns = {"id": request["id"]}, time.monotonic_ns()
        try:
            value = getattr(self, request["op"])(request)
            ended_ns = time.monotonic_ns()
            answer.update(type="ok", value=value)
        except Exception as error:  # Refused: certainly not. A Doubt, and every mistake of ours: cannot tell.
            ended_ns = time.monotonic_ns()
            is_certain = isinstance(error, Refused) or request["op"] == "init"
            answer.update(type="fail" if is_certain else "info", reason="%s" % error or "an error")
        return {**answer, "began": began_ns, "ended": ended_ns}

    def init(self, request):
        self.lock = Lock(request["topology"], request["options"])
        return Lock.handshake

    def acquire(self, request):
        self.holds[request["id"]], sent_ns = self.lock.acquire(request["key"], request["leaseMs"], request["waitMs"])
        return {"grantSent": sent_ns}

    def extend(self, request):
        return {"sent": self.lock.extend(self.holds[request["hold"]], request["leaseMs"])}

    def release(self, request):
        self.lock.release(self.holds[request["hold"]])
        del self.holds[request["hold"]]

    def clock(self, request):
        return {"wallMs": time.time() * 1000}


def serve(requests, client):
    while True:
        os.write(1, (json.dumps(client.handle(requests.get())) + "\n").encode())


if __name__ == "__main__":
    requests = queue.Queue()
    threading.Thread(target=serve, args=(requests, Client()), daemon=True).start()
    for line in sys.stdin:
        requests.put(json.loads(line))
    os._exit(0)  # ends with its input, also in the middle of a wait
