"""Lock libraries of Python, tortured as production runs them: `libraries.py VARIANT` is a lock client.

The protocol is that of lock_client.py; what is here is what a library needs besides: when its commands really left, and
whether all of them were answered.
"""

import asyncio
import concurrent.futures
import sys
import threading
import time

import redis
import redis_lock
from pottery import ExtendUnlockedLock, Redlock, ReleaseUnlockedLock, TooManyExtensions
from redis.exceptions import ConnectionError, LockError, ResponseError, TimeoutError
from redis.sentinel import Sentinel, SentinelManagedConnection

import lock_client
from lock_client import Doubt, Refused


class Wire:
    """What has become of the commands that name the key of the running operation. One operation runs at a time."""

    def __init__(self):
        self.begin(None)

    def begin(self, key):
        self.key = key
        self.sent = []
        self.is_lost = False

    @property
    def granted_ns(self):
        """When the command left that was carried out; where one had no answer, nobody knows which: then the first did."""
        sent_ns, _ = self.sent[0] if self.is_lost else self.sent[-1]
        return sent_ns

    def first_ns(self, owner):
        """When the first command with this owner left: of a try that asks several servers its lease runs from there."""
        return min(sent_ns for sent_ns, args in self.sent if owner in args)


wire = Wire()


class Watched(redis.Connection):
    """A connection as redis-py makes it, that tells the wire what it sends and what it has no answer to."""

    is_asked = False

    def send_command(self, *args, **kwargs):
        if wire.key in args:
            wire.sent.append((time.monotonic_ns(), args))
            self.is_asked = True
        try:
            super().send_command(*args, **kwargs)
        except Exception:
            # Part of it may have left.
            self.give_up()
            raise

    def read_response(self, *args, **kwargs):
        try:
            reply = super().read_response(*args, **kwargs)
        except ResponseError:
            self.is_asked = False
            raise
        except Exception:
            self.give_up()
            raise
        self.is_asked = False
        return reply

    def give_up(self):
        wire.is_lost = wire.is_lost or self.is_asked
        self.is_asked = False


class WatchedSentinel(Watched, SentinelManagedConnection):
    """The same, on the way to the primary that the Sentinels name."""


class OnRedisPy:
    """A watched client of redis-py, with the settings that it has by itself but for the time for one command."""

    features = ["extend", "clock"]
    topologies = ["single", "replica", "sentinel"]
    # What the handshake says besides.
    says = {}

    def __init__(self, topology, options):
        settings = {
            "password": topology.get("password"),
            "socket_timeout": self.answer_within_ms(options) / 1000,
            "socket_connect_timeout": options["commandTimeoutMs"] / 1000,
        }
        self.nodes = []
        if topology["kind"] == "redlock":
            self.nodes = [self.client_of(node, settings) for node in topology["nodes"]]
            reached = [node for node in self.nodes if answers(node)]
            if len(reached) <= len(self.nodes) // 2:
                raise Refused("unreachable: %d of %d servers answer" % (len(reached), len(self.nodes)))
            return
        if topology["kind"] == "sentinel":
            nodes = [(one["host"], one["port"]) for one in topology["sentinels"]]
            sentinel = Sentinel(nodes, sentinel_kwargs=settings, **settings)
            self.redis = sentinel.master_for(topology["masterName"], connection_class=WatchedSentinel)
        else:
            self.redis = self.client_of(topology["node"], settings)
        self.redis.ping()  # fails in the handshake rather than in the first operation

    def client_of(self, node, settings):
        pool = redis.ConnectionPool(connection_class=Watched, host=node["host"], port=node["port"], **settings)
        return redis.Redis(connection_pool=pool)

    def answer_within_ms(self, options):
        return options["commandTimeoutMs"]

    def lease_ms(self, asked_ms):
        """The lease that servers are asked for."""
        return asked_ms


def answers(node):
    try:
        return node.ping()
    except redis.RedisError:
        return False


class RedisPy(OnRedisPy):
    """redis.lock.Lock."""

    name = "python/redis-py"

    def acquire(self, key, lease_ms, wait_ms):
        lock = self.redis.lock(key, timeout=lease_ms / 1000)
        taken = judged(key, lambda: lock.acquire(blocking=wait_ms > 0, blocking_timeout=wait_ms / 1000 or None))
        if not taken:
            raise unless_lost("held")
        return (key, lock), wire.granted_ns

    def extend(self, hold, lease_ms):
        key, lock = hold
        judged(key, lambda: lock.extend(lease_ms / 1000, replace_ttl=True))
        return wire.granted_ns

    def release(self, hold):
        key, lock = hold
        judged(key, lock.release)


class PythonRedisLock(OnRedisPy):
    """redis_lock.Lock: leases and waits of whole seconds, and waiters that are woken by a list."""

    name = "python/python-redis-lock"
    says = {"keys": ["lock:{key}"]}

    def answer_within_ms(self, options):
        # It waits in a BLPOP, for a lease at most, and whoever has it wait must not give that up.
        return options["leaseMs"] + options["commandTimeoutMs"]

    def lease_ms(self, asked_ms):
        if asked_ms < 1_000:
            raise Refused("unsupported: a lease of less than a second")
        return asked_ms // 1_000 * 1_000

    def acquire(self, key, lease_ms, wait_ms):
        lock = redis_lock.Lock(self.redis, key, expire=lease_ms // 1_000)
        # It takes 0 for "for ever", and refuses to wait for longer than a lease.
        wait_s = min(wait_ms, lease_ms) // 1_000
        how = {"timeout": wait_s} if wait_s > 0 else {"blocking": False}
        if not judged("lock:" + key, lambda: lock.acquire(**how)):
            raise unless_lost("held")
        return (key, lock), wire.granted_ns

    def extend(self, hold, lease_ms):
        key, lock = hold
        judged("lock:" + key, lambda: lock.extend(lease_ms // 1_000))
        return wire.granted_ns

    def release(self, hold):
        key, lock = hold
        judged("lock:" + key, lock.release)


class Pottery(OnRedisPy):
    """pottery.Redlock: all servers at once, each in a thread of its own, some of which go on when a majority has answered."""

    name = "python/pottery"
    topologies = ["redlock", "single", "replica"]
    says = {"keys": ["redlock:{key}"]}

    def acquire(self, key, lease_ms, wait_ms):
        masters = self.nodes or [self.redis]
        lock = Redlock(key=key, masters=masters, auto_release_time=lease_ms / 1000)
        how = {"timeout": wait_ms / 1000} if wait_ms > 0 else {"blocking": False}
        if not judged(lock.key, lambda: lock.acquire(**how)):
            # Of several servers fewer than a majority: what is unanswered cannot make it one that this client believes in.
            raise Refused("no-quorum") if self.nodes else unless_lost("held")
        return lock, wire.first_ns(lock._uuid)

    def extend(self, hold, lease_ms):
        judged(hold.key, hold.extend)
        return wire.first_ns(hold._uuid)

    def release(self, hold):
        judged(hold.key, hold.release)


class Aioredlock:
    """aioredlock.Aioredlock, over aioredis 1: all servers at once, by tasks of one event loop."""

    name = "python/aioredlock"
    features = ["extend", "clock"]
    topologies = ["redlock", "single", "replica"]
    says = {}

    def __init__(self, topology, options):
        import aioredlock
        import aioredis

        class WatchedTask(aioredis.RedisConnection):
            def execute(self, command, *args, **kwargs):
                is_asked = wire.key in args
                if is_asked:
                    wire.sent.append((time.monotonic_ns(), args))
                answer = super().execute(command, *args, **kwargs)
                if is_asked and hasattr(answer, "add_done_callback"):
                    answer.add_done_callback(self.answered)
                return answer

            @staticmethod
            def answered(answer):
                if answer.cancelled() or not isinstance(answer.exception(), (type(None), aioredis.ReplyError)):
                    wire.is_lost = True

        self.refusals = (aioredlock.LockError,)
        self.bound_s = options["commandTimeoutMs"] / 1000
        self.is_quorum = topology["kind"] == "redlock"
        how = {"password": topology.get("password"), "timeout": self.bound_s, "connection_cls": WatchedTask}
        nodes = topology["nodes"] if self.is_quorum else [topology["node"]]
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.manager = self.done(self.made(aioredlock, [{"host": one["host"], "port": one["port"], **how} for one in nodes]))

    async def made(self, aioredlock, nodes):
        manager = aioredlock.Aioredlock(nodes)
        answers = await asyncio.gather(*(one.connect() for one in manager.redis.instances), return_exceptions=True)
        if sum(isinstance(one, Exception) for one in answers) > (len(nodes) - 1) // 2:
            raise Refused("unreachable: %s" % next(one for one in answers if isinstance(one, Exception)))
        return manager

    def done(self, operation, within_s=None):
        """It waits for an answer for ever, where none comes."""
        return asyncio.run_coroutine_threadsafe(operation, self.loop).result(within_s)

    def lease_ms(self, asked_ms):
        return asked_ms

    def acquire(self, key, lease_ms, wait_ms):
        give_up_ns = time.monotonic_ns() + wait_ms * 1_000_000
        while True:
            # Three tries by itself; who waits for longer asks again.
            try:
                lock = self.judged(key, self.manager.lock(key, lock_timeout=lease_ms / 1000), "held")
                return lock, wire.first_ns(lock.id)
            except Refused:
                if time.monotonic_ns() >= give_up_ns:
                    raise

    def extend(self, hold, lease_ms):
        self.judged(hold.resource, self.manager.extend(hold, lease_ms / 1000), "not-owner")
        return wire.sent[0][0]

    def release(self, hold):
        self.judged(hold.resource, self.manager.unlock(hold), "not-owner")

    def judged(self, key, operation, refusal):
        wire.begin(key)
        try:
            return self.done(operation, 3 * TRY_S + 4 * self.bound_s)
        except self.refusals as error:
            if not wire.sent:
                raise Refused("unreachable: %s" % error)
            if self.is_quorum and refusal == "held":
                raise Refused("no-quorum")
            raise unless_lost(refusal)
        except concurrent.futures.TimeoutError:
            raise Doubt("no answer")


# The longest pause between two tries of aioredlock.
TRY_S = 0.3


class Client(lock_client.Client):
    """The protocol's client, of a library that may have leases and names of its own."""

    def init(self, request):
        return {**super().init(request), **self.lock.says}

    def acquire(self, request):
        return super().acquire(self.as_asked(request))

    def extend(self, request):
        return super().extend(self.as_asked(request))

    def as_asked(self, request):
        return {**request, "leaseMs": self.lock.lease_ms(request["leaseMs"])}


def judged(key, operation):
    """What the library returned; what it raised, as what is certain by then."""
    wire.begin(key)
    try:
        return operation()
    except TooManyExtensions:
        raise Refused("too-many-extensions")
    except (LockError, redis_lock.NotAcquired, ExtendUnlockedLock, ReleaseUnlockedLock):
        raise unless_lost("not-owner")
    except ResponseError as error:
        raise unless_lost(str(error).split(" ")[0].lower())
    except (ConnectionError, TimeoutError) as error:
        if wire.is_lost:
            raise Doubt("reconnect: %s" % error)
        raise Refused("unreachable: %s" % error)


def unless_lost(reason):
    """A refusal, unless an earlier command had no answer: that one may have done it, and this be its echo."""
    return Doubt("reconnect: %s after a command without an answer" % reason) if wire.is_lost else Refused(reason)


VARIANTS = {"redis-py": RedisPy, "python-redis-lock": PythonRedisLock, "pottery": Pottery, "aioredlock": Aioredlock}

if __name__ == "__main__":
    lock_client.Lock = VARIANTS[sys.argv[1]]
    lock_client.Client = Client
    lock_client.main()
